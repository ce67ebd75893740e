package io.pushplanet.load.node;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class UsageTest {
  @Test
  void a_working_process_uses_time_and_memory() {
    long pid = ProcessHandle.current().pid();
    Usage before = Usage.of(pid);

    long worked = 0;
    for (long counted = 0; worked == 0; counted++) {
      worked = counted % 1_000 == 999 ? Usage.of(pid).nanosSince(before) : 0;
    }

    assertThat(worked).isPositive();
    assertThat(before.residentBytes()).isGreaterThan(10_000_000);
  }

  @Test
  void a_new_thread_counts_and_an_ended_one_does_not() {
    Usage before = new Usage(0, Map.of(1L, 100L, 2L, 50L));
    Usage after = new Usage(0, Map.of(1L, 130L, 3L, 5L));

    assertThat(after.nanosSince(before)).isEqualTo(35);
  }
}
