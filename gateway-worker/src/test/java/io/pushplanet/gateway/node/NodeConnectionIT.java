package io.pushplanet.gateway.node;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import org.eclipse.paho.mqttv5.common.MqttException;
import org.junit.jupiter.api.Test;

/// Faults of Paho's client that others reported, by the numbers of their issues.
class NodeConnectionIT {
  private static final NodeSettings SETTINGS =
      new NodeSettings("gateway", new Secret("x"), 64, Duration.ofSeconds(10));
  private static final Duration CALL = Duration.ofSeconds(10);
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(15);
  private static final byte[] DRAIN =
      WireForm.write(
          new NodeFrame.Drain(
              List.of(new NodeFrame.Drain.Device(new AppId("shop"), new DeviceId("d1")))));
  private static final int PUBLISHES = 2_000;
  private static final int THREADS = 64;

  @Test
  void paho_mqtt_java_551_no_more_is_published_at_once_than_the_node_takes() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        // No publish waits behind more than these: with all at once, the last would wait as long as
        // the machine is slow.
        var workers = Executors.newFixedThreadPool(THREADS, Thread.ofVirtual().factory())) {
      node.takeAtOnce(8);
      NodeConnection connection =
          NodeConnection.open(
              NodeAddress.of(node.lease(Instant.EPOCH)),
              "gw",
              new NodeSettings("gateway", new Secret("x"), 64, Duration.ofSeconds(60)),
              KEEP_ALIVE,
              CALL);

      List<Future<?>> published = new ArrayList<>();
      for (int count = 0; count < PUBLISHES; count++) {
        published.add(
            workers.submit(() -> {
              drain(connection, CALL);
              return true;
            }));
      }

      // Without the limit some of them end with "Too many publishes in progress (32202)".
      for (Future<?> one : published) {
        one.get(60, TimeUnit.SECONDS);
      }
      assertThat(node.drained()).hasSize(PUBLISHES);
      connection.close();
    }
  }

  /// MQTT 5's client counts publishes under way itself, and no other limit can be set.
  @Test
  void paho_mqtt_java_993_a_node_that_takes_one_at_a_time_gets_them_all() throws Exception {
    try (FakeNode node = new FakeNode("n1")) {
      node.takeAtOnce(1);
      NodeConnection connection =
          NodeConnection.open(
              NodeAddress.of(node.lease(Instant.EPOCH)), "gw", SETTINGS, KEEP_ALIVE, CALL);

      for (int count = 0; count < 100; count++) {
        drain(connection, CALL);
      }

      assertThat(node.drained()).hasSize(100);
      assertThat(connection.isOpen()).isTrue();
      connection.close();
    }
  }

  @Test
  void paho_mqtt_java_958_pings_go_by_a_clock_that_is_never_set() throws Exception {
    try (FakeNode node = new FakeNode("n1")) {
      NodeConnection connection =
          NodeConnection.open(
              NodeAddress.of(node.lease(Instant.EPOCH)),
              "gw-958",
              SETTINGS,
              Duration.ofSeconds(1),
              CALL);

      Eventually.within(
          Duration.ofSeconds(30), () -> assertThat(node.pings()).isGreaterThanOrEqualTo(2));

      // Paho's own pings come from a java.util.Timer, whose thread has this name.
      assertThat(Thread.getAllStackTraces().keySet())
          .extracting(Thread::getName)
          .noneMatch(name -> name.startsWith("MQTT Ping") && name.endsWith("gw-958"));
      assertThat(connection.isOpen()).isTrue();
      connection.close();
    }
  }

  @Test
  void a_frame_that_waits_for_a_permit_hears_at_once_that_the_connection_is_gone()
      throws Exception {
    try (FakeNode node = new FakeNode("n1");
        var waiting = Executors.newVirtualThreadPerTaskExecutor()) {
      node.takeAtOnce(8);
      NodeConnection connection = silentAfterConnecting(node, Duration.ofHours(1));
      List<Future<?>> published = new ArrayList<>();
      for (int count = 0; count < 12; count++) {
        published.add(
            waiting.submit(() -> {
              drain(connection, Duration.ofHours(1));
              return true;
            }));
      }
      Eventually.within(Duration.ofSeconds(30), () -> assertThat(node.published()).isEqualTo(8));

      node.vanish();

      for (Future<?> one : published) {
        assertThatThrownBy(() -> one.get(60, TimeUnit.SECONDS))
            .hasCauseInstanceOf(MqttException.class);
      }
    }
  }

  /// Otherwise the frames behind a slow one would end the answers to earlier frames.
  @Test
  void a_frame_without_a_permit_breaks_no_connection() throws Exception {
    try (FakeNode node = new FakeNode("n1");
        var first = Executors.newVirtualThreadPerTaskExecutor()) {
      node.takeAtOnce(1);
      NodeConnection connection = silentAfterConnecting(node, Duration.ofSeconds(5));
      Future<?> unacknowledged =
          first.submit(() -> {
            drain(connection, CALL);
            return true;
          });
      Eventually.within(Duration.ofSeconds(30), () -> assertThat(node.published()).isEqualTo(1));

      assertThatThrownBy(() -> drain(connection, Duration.ofMillis(100)))
          .isInstanceOf(NodeUnreachable.class)
          .hasMessage("node_busy");
      assertThat(connection.isOpen()).isTrue();
      connection.close();
      assertThatThrownBy(unacknowledged::get).hasCauseInstanceOf(MqttException.class);
    }
  }

  private static NodeConnection silentAfterConnecting(FakeNode node, Duration within)
      throws MqttException {
    NodeConnection connection =
        NodeConnection.open(
            NodeAddress.of(node.lease(Instant.EPOCH)), "gw", SETTINGS, KEEP_ALIVE, within);
    node.acknowledgeNothing();
    return connection;
  }

  private static void drain(NodeConnection connection, Duration room) throws MqttException {
    connection.drain(DRAIN, room).awaitAcknowledgement();
  }
}
