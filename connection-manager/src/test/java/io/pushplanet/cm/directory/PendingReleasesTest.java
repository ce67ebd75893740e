package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import org.junit.jupiter.api.Test;

class PendingReleasesTest {
  private static final int ALL = Integer.MAX_VALUE;
  private static final Command EARLIER = end(7);
  private static final Command LATER = end(8);

  private final PendingReleases pending = new PendingReleases();

  @Test
  void the_last_end_of_a_device_is_kept_in_either_order() {
    pending.keep(EARLIER);
    pending.keep(LATER);
    assertThat(pending.take(ALL)).containsExactly(LATER);

    pending.keep(LATER);
    pending.keep(EARLIER);
    assertThat(pending.take(ALL)).containsExactly(LATER);
  }

  @Test
  void the_end_of_a_connection_is_preferred_to_its_bare_release() {
    var absent = new Command.Release(device("d1"), 7);
    pending.keep(absent);
    pending.keep(EARLIER);
    assertThat(pending.take(ALL)).containsExactly(EARLIER);

    pending.keep(EARLIER);
    pending.keep(absent);
    assertThat(pending.take(ALL)).containsExactly(EARLIER);
  }

  @Test
  void other_commands_are_not_kept() {
    pending.keep(new Command.Claim(device("d1"), FormerSession.RESUME, Long.MAX_VALUE));
    pending.keep(new Command.Forget(device("d1"), 7, 9));
    pending.keep(new Command.Remember(device("d1"), 7, Subscription.of(QoS.AT_LEAST_ONCE, 0), 9));

    assertThat(pending.take(ALL)).isEmpty();
  }

  @Test
  void the_number_of_kept_ends_is_limited() {
    for (int number = 0; number < PendingReleases.MAX + 10; number++) {
      pending.keep(new Command.Release(device("d" + number), 7));
    }
    pending.keep(new Command.Release(device("d0"), 8));

    assertThat(pending.take(10)).hasSize(10);
    assertThat(pending.take(ALL)).hasSize(PendingReleases.MAX - 10);
    assertThat(pending.take(ALL)).isEmpty();
  }

  private static Command end(long epoch) {
    return new Command.End(device("d1"), epoch, 60, null, 9);
  }

  private static DeviceKey device(String id) {
    return new DeviceKey(new AppId("shop"), new DeviceId(id));
  }
}
