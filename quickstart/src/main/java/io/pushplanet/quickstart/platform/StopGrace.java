package io.pushplanet.quickstart.platform;

import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.springframework.boot.convert.DurationStyle;

/// How long a program may take to stop before it is killed. A connection manager takes longest: it
/// moves its devices for `cm.drain.longest-at-stop` at most, and some seconds more until they are
/// gone. The time follows that setting, and Spring's time for each phase of a stop where that is
/// given and longer.
final class StopGrace {
  private static final String LONGEST_DRAIN = "cm.drain.longest-at-stop";
  private static final String LONGEST_PHASE = "spring.lifecycle.timeout-per-shutdown-phase";
  private static final Duration USUAL_DRAIN = Duration.ofSeconds(10);

  /// As in connection-manager/README.md and docs/operations.
  private static final Duration REST = Duration.ofSeconds(20);

  private StopGrace() {}

  /// @param settings of all programs, as given to `up`
  static Duration of(Map<String, String> settings) {
    Duration longest =
        settings.entrySet().stream()
            .filter(setting -> isMeant(setting.getKey()))
            .flatMap(setting -> parsed(setting.getValue()))
            .max(Duration::compareTo)
            .orElse(USUAL_DRAIN);
    return REST.plus(longest.compareTo(USUAL_DRAIN) > 0 ? longest : USUAL_DRAIN);
  }

  private static boolean isMeant(String property) {
    String variable = Program.variable(property);
    return variable.equals(Program.variable(LONGEST_DRAIN))
        || variable.equals(Program.variable(LONGEST_PHASE));
  }

  /// Empty for a text that only Spring can resolve, or that stops the start of the programs.
  private static Stream<Duration> parsed(String text) {
    try {
      return Stream.of(DurationStyle.detectAndParse(text));
    } catch (IllegalArgumentException e) {
      return Stream.empty();
    }
  }
}
