package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepeatsTest {
  private static final HeldKey DEVICE = device("d1");
  private static final MessageId ONE = new MessageId("0190b8a0-0000-7000-8000-000000000001");
  private static final MessageId TWO = new MessageId("0190b8a0-0000-7000-8000-000000000002");

  private final Repeats repeats = new Repeats();

  @Test
  void a_message_is_a_repeat_once_and_for_its_device() {
    repeats.expect(DEVICE, List.of(ONE, TWO));

    assertThat(repeats.remove(device("d2"), ONE)).isFalse();
    assertThat(repeats.remove(DEVICE, ONE)).isTrue();
    assertThat(repeats.remove(DEVICE, ONE)).isFalse();
    assertThat(repeats.removeAll(DEVICE)).containsExactly(TWO);
    assertThat(repeats.removeAll(DEVICE)).isEmpty();
  }

  @Test
  void messages_of_many_devices_are_held_and_no_more() {
    for (int device = 0; device <= Repeats.MAX_DEVICES; device++) {
      repeats.expect(device("n" + device), List.of(ONE));
    }

    assertThat(repeats.remove(device("n" + (Repeats.MAX_DEVICES - 1)), ONE)).isTrue();
    assertThat(repeats.remove(device("n" + Repeats.MAX_DEVICES), ONE)).isFalse();
  }

  private static HeldKey device(String id) {
    return HeldKey.of(new DeviceKey(new AppId("shop"), new DeviceId(id)));
  }
}
