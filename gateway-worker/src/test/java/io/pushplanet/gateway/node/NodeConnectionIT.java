package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.WireForm;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// What others suffered with Paho's client, by the numbers of their issues.
class NodeConnectionIT {
  private static final NodeSettings SETTINGS =
      new NodeSettings("gateway", new Secret("x"), 1, 64, Duration.ofSeconds(10));
  private static final int PUBLISHES = 2_000;
  private static final int THREADS = 64;

  @Test
  void paho_mqtt_java_551_no_more_is_published_at_once_than_the_node_takes() throws Exception {
    byte[] drain =
        WireForm.write(
            new NodeFrame.Drain(
                List.of(new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1")))));
    try (FakeNode node = new FakeNode("n1");
        // Nobody waits behind more than these: the last of all at once would wait as long as the
        // machine is slow.
        var workers = Executors.newFixedThreadPool(THREADS, Thread.ofVirtual().factory())) {
      node.takeAtOnce(8);
      NodeConnection connection =
          NodeConnection.open(
              node.lease(Instant.EPOCH),
              "gw",
              new NodeSettings("gateway", new Secret("x"), 1, 64, Duration.ofSeconds(60)));

      List<Future<?>> published = new ArrayList<>();
      for (int count = 0; count < PUBLISHES; count++) {
        published.add(
            workers.submit(() -> {
              connection.drain(drain);
              return true;
            }));
      }

      // Else some of them end with "Too many publishes in progress (32202)".
      for (Future<?> one : published) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(node.drained()).hasSize(PUBLISHES);
      connection.close();
    }
  }

  /// MQTT 5's client counts for itself what is under way, and cannot be told another limit.
  @Test
  void paho_mqtt_java_993_a_node_that_takes_one_at_a_time_gets_them_all() throws Exception {
    byte[] drain =
        WireForm.write(
            new NodeFrame.Drain(
                List.of(new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1")))));
    try (FakeNode node = new FakeNode("n1")) {
      node.takeAtOnce(1);
      NodeConnection connection = NodeConnection.open(node.lease(Instant.EPOCH), "gw", SETTINGS);

      for (int count = 0; count < 100; count++) {
        connection.drain(drain);
      }

      assertThat(node.drained()).hasSize(100);
      assertThat(connection.isOpen()).isTrue();
      connection.close();
    }
  }

  @Test
  void paho_mqtt_java_958_pings_go_by_a_clock_that_nobody_can_set() throws Exception {
    try (FakeNode node = new FakeNode("n1")) {
      NodeConnection connection =
          NodeConnection.open(node.lease(Instant.EPOCH), "gw-958", SETTINGS, Duration.ofSeconds(1));

      Eventually.within(
          Duration.ofSeconds(30), () -> assertThat(node.pings()).isGreaterThanOrEqualTo(2));

      // Paho's own pings come from a java.util.Timer, whose thread bears this name.
      assertThat(Thread.getAllStackTraces().keySet())
          .extracting(Thread::getName)
          .noneMatch(name -> name.startsWith("MQTT Ping") && name.endsWith("gw-958"));
      assertThat(connection.isOpen()).isTrue();
      connection.close();
    }
  }
}
