package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.simulators.Options;
import io.pushplanet.simulators.Simulators;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

class LiveRequestIT {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private @TempDir Path state;

  @Test
  void hanging_up_is_no_error_and_leaves_no_thread() throws Exception {
    Logger all = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    ListAppender<ILoggingEvent> logged = new ListAppender<>();
    logged.start();
    all.addAppender(logged);
    Set<Thread> before = eventLoops();
    try (Simulators simulators = Simulators.start(Options.in(state), Clock.systemUTC())) {
      LiveRequest request =
          new LiveRequest(
              Trust.with("authority", simulators.authority().pem()).context(), PATIENCE);
      URI hms = URI.create("https://localhost:" + simulators.hms().port() + "/");

      // Whether a loop notices that it is closed depends on where it is at that moment.
      for (int count = 0; count < 10; count++) {
        assertThat(request.post(hms, Map.of(), new byte[0], PATIENCE).status()).isPositive();
      }

      Eventually.within(PATIENCE, () -> assertThat(before).containsAll(eventLoops()));
    } finally {
      all.detachAppender(logged);
    }
    assertThat(logged.list).noneMatch(event -> event.getLevel().isGreaterOrEqual(Level.ERROR));
  }

  private static Set<Thread> eventLoops() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("httpclient-"))
        .collect(Collectors.toSet());
  }
}
