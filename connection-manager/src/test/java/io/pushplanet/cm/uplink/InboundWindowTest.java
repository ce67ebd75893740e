package io.pushplanet.cm.uplink;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class InboundWindowTest {
  @Test
  void acknowledgements_leave_in_the_order_of_arrival() {
    var window = new InboundWindow(3);
    List<Integer> acknowledged = new ArrayList<>();
    window.arrived(7, 0);
    window.arrived(8, 0);
    window.arrived(9, 0);
    assertThat(window.isFull()).isTrue();

    window.done(9, () -> acknowledged.add(9));
    window.done(8, () -> acknowledged.add(8));
    assertThat(acknowledged).isEmpty();
    window.done(7, () -> acknowledged.add(7));

    assertThat(acknowledged).containsExactly(7, 8, 9);
    assertThat(window.isFull()).isFalse();
  }

  @Test
  void publishes_at_qos_0_take_room_but_exceed_no_receive_maximum() {
    var window = new InboundWindow(2);
    window.arrived(0, 0);
    window.arrived(0, 0);
    assertThat(window.isHeldBack()).isTrue();
    assertThat(window.isExhausted()).isFalse();

    window.done(
        0,
        () -> {
          throw new AssertionError("nothing to acknowledge");
        });
    assertThat(window.isFull()).isFalse();
    window.arrived(7, 0);
    window.arrived(8, 0);

    assertThat(window.isHeldBack()).isTrue();
    assertThat(window.isExhausted()).isTrue();
    window.done(0, () -> {});
    assertThat(window.isHeldBack()).as("by numbers alone").isFalse();
    assertThat(window.isEmpty()).isFalse();
  }

  @Test
  void an_id_that_is_not_open_is_ignored() {
    var window = new InboundWindow(1);

    window.done(
        1,
        () -> {
          throw new AssertionError("nothing to acknowledge");
        });

    assertThat(window.isFull()).isFalse();
  }

  @Test
  void a_full_window_waits_for_qos_0_for_some_time_and_again_once_it_had_room() {
    var window = new InboundWindow(2);
    window.arrived(0, 0);
    window.arrived(0, TimeUnit.SECONDS.toNanos(10));

    window.swept(TimeUnit.SECONDS.toNanos(14));
    assertThat(window.isHeldBack()).isTrue();
    window.swept(TimeUnit.SECONDS.toNanos(16));
    assertThat(window.isHeldBack()).isFalse();
    assertThat(window.isOverrun()).isTrue();

    window.done(0, () -> {});
    assertThat(window.isOverrun()).isFalse();
    window.arrived(0, TimeUnit.SECONDS.toNanos(20));
    assertThat(window.isHeldBack()).isTrue();
  }
}
