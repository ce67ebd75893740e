package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.Undisturbed;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// A device that a network has silently lost is given up when a message goes unanswered, not half an hour later.
class DeadPathsIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private static TestNode node;
  private static TestGateway gateway;

  private DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() throws Exception {
    node = TestNode.start("--cm.keep-alive.dead-path-after=3s");
    gateway = new TestGateway(node, "gw-dead-paths");
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    node.close();
  }

  @Test
  void ntfy_757_a_device_that_says_nothing_after_a_message_goes_back_to_its_gateway()
      throws Exception {
    Undisturbed.play(this::silence);
  }

  private void silence() throws Exception {
    device = TestNode.newDevice();
    double before = deadPaths();
    try (var silent = subscribed()) {
      var answers =
          gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      silent.expect(MqttPacket.Publish.class);

      var outcome = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);

      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.NOT_HERE);
      assertThat(silent.expect(MqttPacket.Disconnect.class).reason())
          .isEqualTo(ReasonCode.KEEP_ALIVE_TIMEOUT);
      assertThat(deadPaths()).isEqualTo(before + 1);
      assertThat(gateway.deliver(device, TestNode.newMessage(), "{}").result())
          .as("nobody waits for it again")
          .isEqualTo(Result.NOT_HERE);
    }
  }

  @Test
  void a_device_that_is_slow_but_pings_stays() throws Exception {
    Undisturbed.play(this::slowness);
  }

  private void slowness() throws Exception {
    device = TestNode.newDevice();
    try (var slow = subscribed()) {
      var answers =
          gateway.send(List.of(device), TestNode.newMessage(), "{}", Duration.ofSeconds(30));
      var publish = slow.expect(MqttPacket.Publish.class);
      long sent = System.nanoTime();
      // Twice as long as a dead path is given, and alive all the time.
      while (System.nanoTime() - sent < TimeUnit.SECONDS.toNanos(6)) {
        slow.send(new MqttPacket.PingReq());
        slow.expect(MqttPacket.PingResp.class);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
      }

      slow.send(new MqttPacket.PubAck(publish.packetId(), ReasonCode.SUCCESS));

      var outcome = answers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(outcome).isNotNull();
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    }
  }

  private RawClient subscribed() throws Exception {
    var client = connected(device);
    client.subscribe().expect(MqttPacket.SubAck.class);
    return client;
  }

  private static RawClient connected(DeviceKey who) throws Exception {
    var client = new RawClient(node.port("mqtt"), MqttVersion.V5);
    client.patience(PATIENCE);
    client.send(RawClient.connect(MqttVersion.V5, who));
    assertThat(client.expect(MqttPacket.ConnAck.class).code()).isZero();
    return client;
  }

  private static double deadPaths() {
    return node.bean(MeterRegistry.class).get("cm.session.dead.paths").counter().count();
  }
}
