package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.Pressure.Kind;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PressureTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void a_pressure_lasts_until_it_has_not_been_felt_for_some_seconds() {
    var pressure = new Pressure(meters);

    pressure.felt(Kind.DESCRIPTORS, 0);
    pressure.settle(seconds(2));
    pressure.felt(Kind.DESCRIPTORS, seconds(2));
    pressure.settle(seconds(4));

    assertThat(gauge("descriptors")).isEqualTo(1);
    assertThat(gauge("heap")).isZero();

    pressure.settle(seconds(6));

    assertThat(gauge("descriptors")).isZero();
  }

  @Test
  void a_heap_reading_counts_only_while_it_is_fresh() {
    var heap = new Heap();

    heap.read(950, 1000, 100);
    assertThat(heap.isFull()).isTrue();

    heap.read(950, 1000, 10_000);
    assertThat(heap.isFull()).isFalse();

    heap.read(900, 1000, 100);
    assertThat(heap.isFull()).isFalse();
  }

  @Test
  void the_collectors_of_this_machine_can_be_read() {
    System.gc();
    var heap = new Heap();

    heap.look();

    assertThat(heap.isFull()).isFalse();
  }

  private double gauge(String kind) {
    return meters.get("cm.pressure").tag("kind", kind).gauge().value();
  }

  private static long seconds(int count) {
    return Duration.ofSeconds(count).toNanos();
  }
}
