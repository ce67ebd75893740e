package io.pushplanet.dispatcher.limit;

import io.pushplanet.common.settings.PlatformSettings;
import io.pushplanet.dispatcher.problem.ProblemCode;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class LimitConfiguration {
  /// Connections to MySQL that no read takes, where the process has at least four.
  private static final int LEFT_TO_OTHERS = 2;

  /// How many reads wait; of one app half of that.
  private static final int MAX_IN_LINE = 4_000;

  /// In each of the two lines, the app's and the one of all apps. The pool's own line is as long.
  private static final Duration LONGEST_IN_LINE = Duration.ofSeconds(3);

  /// For what requests read from MySQL, and for cancellations and channels: a transaction whose
  /// machine has vanished keeps its rows locked, and those who wait for them keep their
  /// connections. Sends have no limit here, and registrations have their own.
  @Bean
  AppBulkheads reads(PlatformSettings settings) {
    return new AppBulkheads(
        Math.max(2, settings.mysql().poolSize() - LEFT_TO_OTHERS),
        MAX_IN_LINE,
        LONGEST_IN_LINE,
        ProblemCode.OVERLOADED,
        "Too much is read just now. Ask again, or less at once.");
  }
}
