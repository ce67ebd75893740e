package io.pushplanet.cm.uplink;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DelayedWillsTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  private static final Duration MINUTE = Duration.ofMinutes(1);

  private final List<Runnable> due = new ArrayList<>();
  private final Set<DeviceKey> elsewhere = new HashSet<>();
  private final List<String> told = new ArrayList<>();
  private final DelayedWills wills =
      new DelayedWills(
          (_, task) -> {
            due.add(task);
            return () -> due.remove(task);
          },
          (device, task) -> {
            if (!elsewhere.contains(device)) {
              task.run();
            }
          },
          (_, will) -> told.add(will.payload().utf8()));

  @Test
  void mqtt_3_1_2_8_a_will_is_told_when_its_delay_is_over() {
    wills.later(DEVICE, will("gone"), MINUTE);
    assertThat(told).isEmpty();

    due.getFirst().run();

    assertThat(told).containsExactly("gone");
  }

  @Test
  void mqtt_3_1_3_9_a_will_is_not_told_when_the_client_is_back_before_its_delay_is_over() {
    wills.later(DEVICE, will("gone"), MINUTE);
    var timer = due.getFirst();
    wills.cameBack(DEVICE, false);

    timer.run();

    assertThat(told).isEmpty();
  }

  @Test
  void mqtt_3_1_2_8_a_will_is_told_when_a_clean_start_ends_its_session_before_its_delay_is_over() {
    wills.later(DEVICE, will("gone"), MINUTE);
    var timer = due.getFirst();

    wills.cameBack(DEVICE, true);
    timer.run();

    assertThat(told).containsExactly("gone");
    assertThat(due).isEmpty();
  }

  @Test
  void a_cancelled_will_is_not_kept() {
    for (int time = 0; time < 1_000; time++) {
      wills.later(DEVICE, will("gone"), MINUTE);
      wills.cameBack(DEVICE, false);
    }
    assertThat(due).isEmpty();

    for (int time = 0; time < 1_000; time++) {
      wills.later(DEVICE, will("gone"), MINUTE);
    }
    assertThat(due).as("the last one").hasSize(1);
  }

  @Test
  void mqtt_3_1_3_9_nor_when_it_is_back_at_another_node() {
    wills.later(DEVICE, will("gone"), MINUTE);
    elsewhere.add(DEVICE);

    due.getFirst().run();

    assertThat(told).isEmpty();
  }

  @Test
  void a_will_of_a_later_connection_has_its_own_time() {
    wills.later(DEVICE, will("first"), MINUTE);
    var first = due.getFirst();
    wills.cameBack(DEVICE, false);
    wills.later(DEVICE, will("second"), MINUTE);

    first.run();
    assertThat(told).isEmpty();
    due.getLast().run();
    assertThat(told).containsExactly("second");
  }

  @Test
  void without_a_delay_it_is_told_at_once() {
    wills.later(DEVICE, will("gone"), Duration.ZERO);

    assertThat(told).containsExactly("gone");
    assertThat(due).isEmpty();
  }

  private static Will will(String payload) {
    return new Will(
        "push/uplink", Binary.of(payload), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE);
  }
}
