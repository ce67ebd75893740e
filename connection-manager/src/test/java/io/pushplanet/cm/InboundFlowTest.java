package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.uplink.Uplinks;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// A device's receipts and uplinks that the broker has not confirmed.
class InboundFlowTest extends PipelineScene {
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void one_device_that_publishes_at_qos_0_leaves_room_for_the_others_events(MqttVersion version) {
    var pipeline = pipeline(10);
    var flood = connected(pipeline, version, "flood");
    for (int count = 0; count < 10_000; count++) {
      flood.receive(uplink(0));
    }

    var other = connected(pipeline, version, "other");
    other.receive(uplink(1));

    assertThat(told).hasSize(UPLINKS_IN_FLIGHT + 1);
    assertThat(other.open).isTrue();
    assertThat(flood.paused).isTrue();
    confirms.getFirst().run();
    loop.turn();
    assertThat(flood.paused).as("after a confirm").isFalse();
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_that_connects_again_does_not_get_its_share_of_qos_0_publishes_anew(
      MqttVersion version) {
    var pipeline = pipeline(10);
    for (int time = 0; time < 10; time++) {
      var flood = connected(pipeline, version, "flood");
      for (int count = 0; count < UPLINKS_IN_FLIGHT; count++) {
        flood.receive(uplink(0));
      }
      flood.end();
    }
    assertThat(told).hasSize(UPLINKS_IN_FLIGHT);

    var again = connected(pipeline, version, "flood");
    again.receive(uplink(1));
    connected(pipeline, version, "other").receive(uplink(0));
    assertThat(told).as("at QoS 1, and another device's").hasSize(UPLINKS_IN_FLIGHT + 2);
    confirms.getFirst().run();
    again.receive(uplink(0));
    again.receive(uplink(0));
    assertThat(told).as("one in the place of one").hasSize(UPLINKS_IN_FLIGHT + 3);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_whose_qos_0_publishes_wait_too_long_is_read_again_and_they_are_dropped(
      MqttVersion version) {
    var client = connected(pipeline(10), version, "d1");
    for (int count = 0; count < UPLINKS_IN_FLIGHT; count++) {
      client.receive(uplink(0));
    }

    client.sweep(TimeUnit.SECONDS.toNanos(4));
    assertThat(client.paused).isTrue();
    client.sweep(TimeUnit.SECONDS.toNanos(6));
    assertThat(client.paused).isFalse();

    client.receive(uplink(0));
    assertThat(client.paused).isFalse();
    assertThat(told).hasSize(UPLINKS_IN_FLIGHT);
    confirms.getFirst().run();
    loop.turn();
    client.receive(uplink(0));
    assertThat(told).hasSize(UPLINKS_IN_FLIGHT + 1);
  }

  @Test
  void a_3_1_1_client_is_not_closed_when_rubbish_takes_the_last_place_in_its_window() {
    var client = connected(pipeline(10), MqttVersion.V3_1_1, "d1");
    for (int id = 1; id < UPLINKS_IN_FLIGHT; id++) {
      client.receive(uplink(id));
    }

    client.receive(
        new MqttPacket.Publish(
            Uplinks.RECEIPTS,
            Binary.of("rubbish"),
            QoS.AT_LEAST_ONCE,
            false,
            false,
            UPLINKS_IN_FLIGHT,
            MqttProperties.NONE));

    assertThat(client.open).isTrue();
    assertThat(client.paused).isTrue();
  }

  @Test
  void publishes_at_qos_0_do_not_exceed_a_receive_maximum() {
    var client = connected(pipeline(10), MqttVersion.V5, "d1");
    for (int id = 0; id < UPLINKS_IN_FLIGHT - 1; id++) {
      client.receive(uplink(0));
    }

    for (int id = 1; id <= UPLINKS_IN_FLIGHT; id++) {
      client.receive(uplink(id));
      confirms.removeFirst().run();
      loop.turn();
    }
    client.receive(uplink(UPLINKS_IN_FLIGHT + 1));
    assertThat(client.open).isTrue();
    client.receive(uplink(UPLINKS_IN_FLIGHT + 2));

    assertThat(client.open).as("one more than it was told").isFalse();
  }

  @Test
  void a_3_1_1_client_with_a_full_window_reads_on_when_there_is_room_in_it_again() {
    var client = connected(pipeline(10), MqttVersion.V3_1_1, "d1");
    for (int id = 1; id <= UPLINKS_IN_FLIGHT; id++) {
      client.receive(uplink(id));
    }

    confirms.get(1).run();
    loop.turn();
    assertThat(client.paused).as("the first one is not confirmed").isTrue();
    confirms.get(0).run();
    loop.turn();

    assertThat(client.paused).isFalse();
    assertThat(client.packets).filteredOn(MqttPacket.PubAck.class::isInstance).hasSize(2);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_that_publishes_too_fast_is_not_read_until_its_rate_allows_it(MqttVersion version) {
    var pipeline = pipeline(10, 2, 5);
    var flood = connected(pipeline, version, "flood");
    publish(flood, 10);
    assertThat(told).hasSize(5);
    assertThat(flood.paused).isTrue();
    assertThat(slowed()).isOne();

    publish(connected(pipeline, version, "other"), 1);
    assertThat(told).as("another device").hasSize(6);

    sweepAt(flood, 400);
    assertThat(flood.paused).as("before its next one is due").isTrue();
    sweepAt(flood, 1_000);
    publish(flood, 10);
    assertThat(told).as("two of one second").hasSize(8);
    assertThat(flood.paused).isTrue();
    assertThat(flood.open).isTrue();
    assertThat(slowed()).isEqualTo(2);
  }

  @Test
  void a_confirm_does_not_let_a_device_on_that_publishes_too_fast() {
    var client = connected(pipeline(10, 2, 3), MqttVersion.V5, "d1");
    for (int id = 1; id <= 3; id++) {
      client.receive(uplink(id));
    }

    confirms.forEach(Runnable::run);
    loop.turn();

    assertThat(client.packets).filteredOn(MqttPacket.PubAck.class::isInstance).hasSize(3);
    assertThat(client.paused).isTrue();
  }

  @Test
  void a_forbidden_publish_counts_too() {
    var client = connected(pipeline(10, 2, 3), MqttVersion.V5, "d1");
    for (int id = 1; id <= 3; id++) {
      client.receive(
          new MqttPacket.Publish(
              "elsewhere", Binary.EMPTY, QoS.AT_LEAST_ONCE, false, false, id, MqttProperties.NONE));
    }

    assertThat(client.open).isTrue();
    assertThat(client.paused).isTrue();
  }

  @Test
  void a_device_has_its_burst_again_after_a_rest_and_not_sooner() {
    var client = connected(pipeline(10, 2, 5), MqttVersion.V5, "d1");
    publish(client, 4);
    sweepAt(client, 1_000);
    publish(client, 10);
    assertThat(told).as("of the first five, and two of one second").hasSize(7);

    sweepAt(client, 10_000);
    sweepAt(client, 11_000);
    publish(client, 10);

    assertThat(told).hasSize(7 + 5);
  }

  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_that_reconnects_has_the_rest_of_its_burst(MqttVersion version) {
    var pipeline = pipeline(10, 2, 5);
    var first = connected(pipeline, version, "flood");
    publish(first, 3);
    first.end();

    var second = connected(pipeline, version, "flood");
    publish(second, 10);
    second.end();
    assertThat(told).hasSize(5);
    publish(connected(pipeline, version, "other"), 10);
    assertThat(told).as("another device").hasSize(5 + 5);

    loop.nowNanos = TimeUnit.SECONDS.toNanos(10);
    publish(connected(pipeline, version, "flood"), 10);
    assertThat(told).as("after a rest").hasSize(5 + 5 + 5);
  }

  /// Otherwise one packet of each connection would be read before the device is slowed down.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void a_device_that_reconnects_in_a_loop_publishes_no_faster_than_its_rate(MqttVersion version) {
    var pipeline = pipeline(10, 2, 5);
    for (int time = 0; time < 20; time++) {
      var flood = connected(pipeline, version, "flood");
      publish(flood, time == 0 ? 10 : 1);
      flood.end();
    }
    assertThat(told).hasSize(5);

    var last = connected(pipeline, version, "flood");
    assertThat(last.paused).isTrue();
    sweepAt(last, 1_000);
    assertThat(last.paused).isFalse();
    publish(last, 10);
    assertThat(told).as("two of one second").hasSize(7);
  }

  /// A flood that the socket holds continues as soon as it is read.
  @ParameterizedTest
  @EnumSource(MqttVersion.class)
  void at_qos_0_the_surplus_is_dropped_after_some_seconds_so_that_the_rest_is_heard(
      MqttVersion version) {
    var client = connected(pipeline(10, 2, 5), version, "d1");
    publish(client, 10);
    for (int second = 1; second < 5; second++) {
      sweepAt(client, 1_000 * second);
      publish(client, 10);
      assertThat(client.paused).as("after %s s", second).isTrue();
    }
    assertThat(told).hasSize(5 + 4 * 2);

    sweepAt(client, 5_000);
    publish(client, 100);
    client.receive(new MqttPacket.PingReq());
    assertThat(client.packets).last().isInstanceOf(MqttPacket.PingResp.class);
    assertThat(told).as("what its rate allows").hasSize(5 + 5 * 2);
    assertThat(tooFast()).isEqualTo(98);

    client.receive(uplink(1));
    assertThat(told).as("at QoS 1").hasSize(5 + 5 * 2 + 1);
    assertThat(client.paused).as("at QoS 1").isTrue();
    sweepAt(client, 7_000);
    sweepAt(client, 8_000);
    publish(client, 10);
    assertThat(client.paused).as("it has heard all, and waits again").isTrue();
  }

  /// At QoS 0; the broker confirms each at once.
  private void publish(Client client, int number) {
    for (int count = 0; count < number; count++) {
      client.receive(uplink(0));
      confirms.forEach(Runnable::run);
      confirms.clear();
      loop.turn();
    }
  }

  private void sweepAt(Client client, long millis) {
    loop.nowNanos = TimeUnit.MILLISECONDS.toNanos(millis);
    client.sweep(loop.nowNanos);
  }

  private double tooFast() {
    return meters
        .get("cm.admission.refused")
        .tag("reason", "message_rate_too_high")
        .counter()
        .count();
  }

  private double slowed() {
    return meters.get("cm.uplink.slowed").counter().count();
  }
}
