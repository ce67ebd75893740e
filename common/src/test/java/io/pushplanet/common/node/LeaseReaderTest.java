package io.pushplanet.common.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class LeaseReaderTest {
  private static final NodeLease LEASE =
      new NodeLease(
          new NodeId("a"),
          "127.0.0.1",
          1884,
          1883,
          9083,
          7,
          false,
          Instant.parse("2026-11-22T10:00:00Z"));
  private static final String READABLE = new String(WireForm.write(LEASE), StandardCharsets.UTF_8);

  private final LeaseReader reader = new LeaseReader();

  @Test
  void a_lease_that_is_null_is_unreadable() {
    assertThat(reader.read(Map.of("a", READABLE, "b", "null"))).isEqualTo(Map.of("a", LEASE));
  }

  @Test
  void an_unreadable_lease_is_left_out_and_logged_once() {
    try (var log = new LogLines(LeaseReader.class)) {
      assertThat(reader.read(Map.of("a", READABLE, "b", "not JSON"))).isEqualTo(Map.of("a", LEASE));
      assertThat(reader.read(Map.of("b", "{\"node\":\"b\",\"at\":1}"))).isEmpty();
      assertThat(log.said()).containsExactly("event=lease_unreadable node=b");

      assertThat(reader.read(Map.of("b", READABLE))).isEqualTo(Map.of("b", LEASE));
      assertThat(reader.read(Map.of("b", "not JSON"))).isEmpty();
      assertThat(log.said()).hasSize(2);

      assertThat(reader.read(Map.of())).isEmpty();
      assertThat(reader.read(Map.of("b", "not JSON"))).isEmpty();
      assertThat(log.said()).hasSize(3);
    }
  }
}
