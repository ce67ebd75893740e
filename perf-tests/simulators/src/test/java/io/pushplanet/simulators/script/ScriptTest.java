package io.pushplanet.simulators.script;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.simulators.HandClock;
import io.pushplanet.simulators.ledger.Simulated;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

class ScriptTest {
  private static final Fate GONE = Fate.answer(410, "Unregistered");
  private static final Fate BUSY = Fate.answer(503, "ServiceUnavailable");

  private final HandClock clock = new HandClock();
  private final Script script = new Script(new SplittableRandom(7), clock);

  @Test
  void a_line_for_one_token_comes_before_lines_for_all() {
    script.add(ScriptLine.always(Simulated.APNS, BUSY));
    script.add(ScriptLine.token(Simulated.APNS, "aa", GONE));

    assertThat(script.fate(Simulated.APNS, "aa")).contains(GONE);
    assertThat(script.fate(Simulated.APNS, "bb")).contains(BUSY);
    assertThat(script.fate(Simulated.FCM, "aa")).isEmpty();
  }

  @Test
  void skip_and_next_choose_a_range_and_then_the_line_is_gone() {
    script.add(new ScriptLine(Simulated.FCM, "", 2, 1, 100, BUSY));

    assertThat(script.fate(Simulated.FCM, "t")).isEmpty();
    assertThat(script.fate(Simulated.FCM, "t")).isEmpty();
    assertThat(script.fate(Simulated.FCM, "t")).contains(BUSY);
    assertThat(script.fate(Simulated.FCM, "t")).isEmpty();
    assertThat(script.lines()).isEmpty();
  }

  @Test
  void percent_takes_about_that_share() {
    script.add(new ScriptLine(Simulated.FCM, "", 0, 0, 10, BUSY));

    long met = 0;
    for (int i = 0; i < 10_000; i++) {
      met += script.fate(Simulated.FCM, "t").isPresent() ? 1 : 0;
    }

    assertThat(met).isBetween(900L, 1_100L);
  }

  @Test
  void one_in_so_many_is_exact() {
    script.add(line("{\"provider\":\"fcm\",\"skip\":10,\"every\":100,\"status\":503}"));

    List<Integer> met = new ArrayList<>();
    for (int i = 1; i <= 310; i++) {
      if (script.fate(Simulated.FCM, "t").isPresent()) {
        met.add(i);
      }
    }

    assertThat(met).containsExactly(110, 210, 310);
  }

  @Test
  void a_line_holds_between_two_times() {
    script.add(
        line("{\"provider\":\"fcm\",\"from\":\"PT10S\",\"until\":\"PT20S\",\"status\":503}"));

    boolean before = script.fate(Simulated.FCM, "t").isPresent();
    clock.advance(Duration.ofSeconds(10));
    boolean within = script.fate(Simulated.FCM, "t").isPresent();
    clock.advance(Duration.ofSeconds(10));
    boolean after = script.fate(Simulated.FCM, "t").isPresent();

    assertThat(List.of(before, within, after)).containsExactly(false, true, false);
  }

  @Test
  void the_json_form_is_read_whole() {
    ScriptLine line =
        ScriptLine.of(
            JsonMapper.shared()
                .readTree(
                    """
                    {"provider":"apns_sandbox","token":"aa","skip":1,"next":2,"percent":50,
                     "action":"answer","status":410,"reason":"Unregistered","retry_after":"PT5S",
                     "delay":"PT0.1S","timestamp":12,"delivered":true}
                    """));

    assertThat(line)
        .isEqualTo(
            new ScriptLine(
                Simulated.APNS_SANDBOX,
                "aa",
                1,
                2,
                50,
                new Fate(
                    Fate.Action.ANSWER,
                    410,
                    "Unregistered",
                    Duration.ofSeconds(5),
                    Duration.ofMillis(100),
                    12,
                    true)));
  }

  @Test
  void an_unknown_action_or_provider_is_refused_with_what_is_known() {
    assertThatThrownBy(() -> line("{\"provider\":\"apns\",\"action\":\"explode\"}"))
        .hasMessageContaining("goaway");
    assertThatThrownBy(() -> line("{\"provider\":\"adm\"}")).hasMessageContaining("apns_sandbox");
  }

  private static ScriptLine line(String json) {
    return ScriptLine.of(JsonMapper.shared().readTree(json));
  }
}
