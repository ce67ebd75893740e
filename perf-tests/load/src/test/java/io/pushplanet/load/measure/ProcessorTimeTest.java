package io.pushplanet.load.measure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class ProcessorTimeTest {
  @Test
  void user_and_system_time_are_found_behind_any_program_name() {
    String stat = "17 (a b) c) S 1 17 17 0 -1 4194560 100 0 0 0 250 50 70 30 20 0 1 0 100 1000 10";

    assertThat(ProcessorTime.own(stat)).isEqualTo(Duration.ofSeconds(3));
    assertThat(ProcessorTime.ofEndedChildren(stat)).isEqualTo(Duration.ofSeconds(1));
  }

  @Test
  @Timeout(60)
  void the_time_of_an_ended_child_counts() throws IOException {
    String child = "i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done; echo burnt; read end";
    Process parent =
        new ProcessBuilder("sh", "-c", "sh -c '" + child + "'; echo ended; read end").start();
    try (BufferedReader said = parent.inputReader();
        BufferedWriter input = parent.outputWriter()) {
      Map<String, Long> pids = Map.of("parent", parent.pid());
      assertThat(said.readLine()).isEqualTo("burnt");
      ProcessorTime whileItLived = ProcessorTime.now(pids);

      input.write("\n");
      input.flush();
      assertThat(said.readLine()).isEqualTo("ended");
      ProcessorTime afterwards = ProcessorTime.now(pids);

      assertThat(whileItLived.used().get("parent")).isGreaterThan(Duration.ofMillis(20));
      assertThat(afterwards.since(whileItLived).get("parent"))
          .isGreaterThanOrEqualTo(Duration.ZERO);
    } finally {
      parent.destroyForcibly();
    }
  }

  @Test
  void programs_that_do_not_run_here_are_left_out() {
    long self = ProcessHandle.current().pid();

    ProcessorTime now = ProcessorTime.now(Map.of("gateway_worker", self, "redis", 0L));

    assertThat(now.used()).containsOnlyKeys("gateway-worker", "load");
    assertThat(now.since(now)).containsEntry("load", Duration.ZERO);
  }

  @Test
  void the_time_of_compilers_is_counted_separately() {
    long self = ProcessHandle.current().pid();

    ProcessorTime withCompilers = ProcessorTime.now(Map.of("gateway_worker", self));
    ProcessorTime withoutJvm = ProcessorTime.now(Map.of());

    assertThat(withCompilers.compilers()).isPositive();
    assertThat(withoutJvm.compilers()).isZero();
  }
}
