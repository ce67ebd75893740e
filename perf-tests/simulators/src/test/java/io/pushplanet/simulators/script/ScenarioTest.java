package io.pushplanet.simulators.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.simulators.ledger.Simulated;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScenarioTest {
  @Test
  void a_scenario_says_which_requests_meet_which_fate() {
    var lines =
        Scenario.parse(
            """
            # An hour in the life of APNs.
            apns after 100 next 1            goaway Shutdown
            apns 1 in 100                    refuse
            apns_sandbox token ab12          answer 410 Unregistered timestamp 7
            fcm from 10s until PT20S 5 %     answer 503 UNAVAILABLE retry-after 30s delay 250ms delivered
            apns                             trickle 2s 503 ServiceUnavailable
            apns after 5 next 1              streams 10
            fcm next 1                       certificate expired # as Google's never is
            """);

    assertThat(lines)
        .containsExactly(
            new ScriptLine(
                Simulated.APNS,
                "",
                100,
                1,
                100,
                new Fate(Fate.Action.GOAWAY, 0, "Shutdown", Duration.ZERO, Duration.ZERO, 0, true)),
            new ScriptLine(
                Simulated.APNS,
                "",
                0,
                0,
                100,
                100,
                Duration.ZERO,
                ScriptLine.FOR_EVER,
                Fate.of(Fate.Action.REFUSE)),
            ScriptLine.token(
                Simulated.APNS_SANDBOX, "ab12", Fate.answer(410, "Unregistered").since(7)),
            new ScriptLine(
                Simulated.FCM,
                "",
                0,
                0,
                1,
                5,
                Duration.ofSeconds(10),
                Duration.ofSeconds(20),
                Fate.answer(503, "UNAVAILABLE")
                    .retryAfter(Duration.ofSeconds(30))
                    .after(Duration.ofMillis(250))
                    .butDelivered()),
            ScriptLine.always(
                Simulated.APNS,
                new Fate(
                    Fate.Action.TRICKLE,
                    503,
                    "ServiceUnavailable",
                    Duration.ZERO,
                    Duration.ofSeconds(2),
                    0,
                    false)),
            new ScriptLine(Simulated.APNS, "", 5, 1, 100, changed(Fate.Action.STREAMS, "10")),
            ScriptLine.next(Simulated.FCM, 1, changed(Fate.Action.CERTIFICATE, "expired")));
  }

  private static Fate changed(Fate.Action action, String to) {
    return new Fate(action, 0, to, Duration.ZERO, Duration.ZERO, 0, false);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "apple refuse",
        "apns",
        "apns explode",
        "apns 2 in 100 refuse",
        "apns 5 refuse",
        "apns from soon refuse",
        "apns from 20s until 10s refuse",
        "apns next many refuse",
        "apns streams 0",
        "apns certificate nice",
        "apns answer 999",
        "apns refuse now",
        "apns answer 503 ServiceUnavailable twice"
      })
  void a_malformed_line_is_refused_by_name(String line) {
    assertThatThrownBy(() -> Scenario.parse("apns refuse\n" + line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("In \"" + line + "\": ");
  }
}
