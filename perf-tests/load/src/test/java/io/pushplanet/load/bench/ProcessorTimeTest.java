package io.pushplanet.load.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ProcessorTimeTest {
  @Test
  void user_and_system_time_are_found_behind_any_program_name() {
    String stat = "17 (a b) c) S 1 17 17 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 1 0 100 1000 10";

    assertThat(ProcessorTime.parse(stat)).isEqualTo(Duration.ofSeconds(3));
  }

  @Test
  void programs_that_do_not_run_here_are_left_out() {
    long self = ProcessHandle.current().pid();

    ProcessorTime now = ProcessorTime.now(Map.of("gateway_worker", self, "redis", 0L));

    assertThat(now.used()).containsOnlyKeys("gateway-worker", "load");
    assertThat(now.since(now)).containsEntry("load", Duration.ZERO);
  }
}
