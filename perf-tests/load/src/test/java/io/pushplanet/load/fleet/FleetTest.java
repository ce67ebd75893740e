package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.MqttVersion;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FleetTest {
  private static final Duration SOON = Duration.ofSeconds(120);
  private static final FleetSettings SETTINGS =
      new FleetSettings(
          Duration.ofSeconds(60),
          Duration.ofMillis(1),
          Duration.ofMillis(10),
          8,
          Duration.ofSeconds(45));

  private final AcceptingServer server = new AcceptingServer();
  private final Sightings sightings = new Sightings();
  private final Fleet fleet =
      Fleet.start(server.address(), SETTINGS, sightings, new SplittableRandom(1));

  @AfterEach
  void close() throws IOException {
    fleet.close();
    server.close();
  }

  @Test
  void devices_of_both_versions_log_in_and_remember_what_they_get() {
    fleet.add(List.of(device("d3", MqttVersion.V3_1_1), device("d5", MqttVersion.V5)));
    assertThat(fleet.awaitReady(SOON)).isTrue();

    server.send("d3", 1, "{\"data\":{\"id\":\"no\"},\"id\":\"m1\"}");
    server.send("d5", 2, "{\"id\":\"m2\",\"title\":\"x\"}");
    server.send("d5", 3, "{\"id\":\"m2\",\"title\":\"x\"}");

    Eventually.within(SOON, () -> assertThat(server.acknowledged).hasSize(3));
    // The fleet records them right after it has acknowledged them.
    Eventually.within(
        SOON,
        () -> {
          assertThat(sightings.total()).isEqualTo(3);
          assertThat(sightings.repeats()).isOne();
        });
    assertThat(sightings.times(new DeviceId("d3"), "m1")).isOne();
    assertThat(sightings.times(new DeviceId("d5"), "m2")).isEqualTo(2);
  }

  @Test
  void more_devices_than_may_connect_at_once_all_get_in() {
    fleet.add(IntStream.range(0, 50).mapToObj(i -> device("d" + i, MqttVersion.V3_1_1)).toList());

    assertThat(fleet.awaitReady(SOON)).isTrue();
    assertThat(fleet.counts().connects()).isEqualTo(50);
  }

  @Test
  void a_device_whose_connection_is_cut_comes_back() {
    fleet.add(List.of(device("d1", MqttVersion.V5)));
    assertThat(fleet.awaitReady(SOON)).isTrue();

    server.cut("d1");

    Eventually.within(
        SOON,
        () -> {
          assertThat(fleet.counts().connects()).isEqualTo(2);
          assertThat(fleet.counts().ready()).isOne();
        });
    assertThat(fleet.counts().cuts()).isOne();
  }

  @Test
  void a_device_that_is_refused_tries_again() {
    server.refusals.set(2);
    fleet.add(List.of(device("d1", MqttVersion.V3_1_1)));

    assertThat(fleet.awaitReady(SOON)).isTrue();
    assertThat(fleet.counts().refused()).isEqualTo(2);
    assertThat(fleet.reasons()).containsEntry("the server refuses the connection with 0x5", 2L);
  }

  @Test
  void devices_subscribe_anew_at_another_qos_without_leaving() {
    fleet.add(List.of(device("d3", MqttVersion.V3_1_1), device("d5", MqttVersion.V5)));
    assertThat(fleet.awaitReady(SOON)).isTrue();

    fleet.subscribeAll(0);

    Eventually.within(SOON, () -> assertThat(fleet.subscriptions()).isEqualTo(4));
    assertThat(server.wishes).containsExactly(1, 1, 0, 0);
    assertThat(fleet.counts().connects()).isEqualTo(2);
    assertThat(fleet.counts().ready()).isEqualTo(2);
  }

  @Test
  void a_receipt_names_the_message() {
    MessageId message = new MessageId("0190b8a0-0000-7000-8000-000000000001");
    fleet.add(List.of(device("d1", MqttVersion.V5)));
    assertThat(fleet.awaitReady(SOON)).isTrue();

    fleet.receipt(new DeviceId("d1"), message, "opened");

    Eventually.within(
        SOON,
        () ->
            assertThat(server.published)
                .containsExactly(
                    "push/receipts {\"id\":\"" + message.value() + "\",\"event\":\"opened\"}"));
  }

  private static Device device(String id, MqttVersion version) {
    return new Device(new AppId("shop"), new DeviceId(id), new Secret("secret"), version);
  }

  /// A minimal MQTT server, blocking, one thread per device.
  static final class AcceptingServer {
    final Queue<Integer> acknowledged = new ConcurrentLinkedQueue<>();
    final Queue<String> published = new ConcurrentLinkedQueue<>();
    final Queue<Integer> wishes = new ConcurrentLinkedQueue<>();
    final AtomicInteger refusals = new AtomicInteger();
    private final Map<String, Connected> devices = new ConcurrentHashMap<>();
    private final ServerSocket listener;

    private record Connected(Socket socket, boolean five) {}

    AcceptingServer() {
      try {
        listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      Thread.ofVirtual().start(this::accept);
    }

    InetSocketAddress address() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), listener.getLocalPort());
    }

    void send(String device, int packetId, String payload) {
      Connected connected = connected(device);
      byte[] bytes =
          ClientPackets.publish(
              connected.five ? MqttVersion.V5 : MqttVersion.V3_1_1,
              packetId,
              "push/messages",
              payload.getBytes(StandardCharsets.UTF_8));
      try {
        // In two halves, so that the client also reads a partial packet.
        connected.socket.getOutputStream().write(bytes, 0, 5);
        connected.socket.getOutputStream().flush();
        connected.socket.getOutputStream().write(bytes, 5, bytes.length - 5);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private Connected connected(String device) {
      return Objects.requireNonNull(devices.get(device), device + " is not connected");
    }

    void cut(String device) {
      try {
        connected(device).socket.close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    void close() throws IOException {
      listener.close();
    }

    private void accept() {
      while (!listener.isClosed()) {
        try {
          Socket client = listener.accept();
          Thread.ofVirtual().start(() -> serve(client));
        } catch (IOException e) {
          // The test has ended.
        }
      }
    }

    private void serve(Socket client) {
      try (client) {
        DataInputStream in = new DataInputStream(client.getInputStream());
        boolean five = false;
        while (true) {
          int header = in.readUnsignedByte();
          byte[] body = in.readNBytes(in.readUnsignedByte());
          ByteBuffer packet = ByteBuffer.wrap(body);
          switch (header >>> 4) {
            case 1 -> {
              if (refusals.getAndDecrement() > 0) {
                client.getOutputStream().write(new byte[] {0x20, 2, 0, 5});
                return;
              }
              five = body[6] == 5;
              packet.position(10 + (five ? 6 : 0));
              devices.put(string(packet), new Connected(client, five));
              client
                  .getOutputStream()
                  .write(five ? new byte[] {0x20, 3, 0, 0, 0} : new byte[] {0x20, 2, 0, 0});
            }
            case 8 -> {
              wishes.add(body[body.length - 1] & 3);
              client
                  .getOutputStream()
                  .write(
                      five
                          ? new byte[] {(byte) 0x90, 4, body[0], body[1], 0, 1}
                          : new byte[] {(byte) 0x90, 3, body[0], body[1], 1});
            }
            case 3 -> {
              String topic = string(packet);
              packet.position(packet.position() + 2 + (five ? 1 : 0));
              published.add(topic + " " + StandardCharsets.UTF_8.decode(packet));
            }
            case 4 -> acknowledged.add((int) packet.getShort());
            default -> {}
          }
        }
      } catch (IOException e) {
        // The device or the test has ended.
      }
    }

    private static String string(ByteBuffer packet) {
      byte[] bytes = new byte[packet.getShort()];
      packet.get(bytes);
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }
}
