package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.directory.Directory.Former;
import io.pushplanet.cm.directory.Directory.Order;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import org.junit.jupiter.api.Test;

class UntoldTest {
  private static final int ALL = Integer.MAX_VALUE;
  private static final Order EARLIER = end(7);
  private static final Order LATER = end(8);

  private final Untold untold = new Untold();

  @Test
  void of_a_device_the_last_end_is_kept_whichever_comes_first() {
    untold.keep(EARLIER);
    untold.keep(LATER);
    assertThat(untold.take(ALL)).containsExactly(LATER);

    untold.keep(LATER);
    untold.keep(EARLIER);
    assertThat(untold.take(ALL)).containsExactly(LATER);
  }

  @Test
  void that_a_device_is_not_here_says_less_than_how_its_connection_ended() {
    var absent = new Order.Release(device("d1"), 7);
    untold.keep(absent);
    untold.keep(EARLIER);
    assertThat(untold.take(ALL)).containsExactly(EARLIER);

    untold.keep(EARLIER);
    untold.keep(absent);
    assertThat(untold.take(ALL)).containsExactly(EARLIER);
  }

  @Test
  void what_is_no_end_is_not_kept() {
    untold.keep(new Order.Claim(device("d1"), Former.RESUME, Long.MAX_VALUE));
    untold.keep(new Order.Forget(device("d1"), 7, 9));
    untold.keep(new Order.Remember(device("d1"), 7, Subscription.of(QoS.AT_LEAST_ONCE, 0), 9));

    assertThat(untold.take(ALL)).isEmpty();
  }

  @Test
  void so_many_are_kept_and_no_more() {
    for (int number = 0; number < Untold.MOST + 10; number++) {
      untold.keep(new Order.Release(device("d" + number), 7));
    }
    untold.keep(new Order.Release(device("d0"), 8));

    assertThat(untold.take(10)).hasSize(10);
    assertThat(untold.take(ALL)).hasSize(Untold.MOST - 10);
    assertThat(untold.take(ALL)).isEmpty();
  }

  private static Order end(long epoch) {
    return new Order.End(device("d1"), epoch, 60, null, 9);
  }

  private static DeviceKey device(String id) {
    return new DeviceKey(new AppId("shop"), new DeviceId(id));
  }
}
