package io.pushplanet.load.hostile;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.pushplanet.common.access.Secret;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.Connect;
import io.pushplanet.load.mqtt.DeviceTopics;
import io.pushplanet.load.mqtt.MqttVersion;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/// The packets of one connection, each changed at some place. A good half of the connections log in
/// first, so that the code behind the CONNECT is attacked as well. Half of these change only bytes
/// after the fixed header and keep the length, so that the node judges many of their packets before
/// it refuses one. Confined to one thread; the same seed gives the same bytes.
final class MutatedPackets {
  private static final int KINDS = 9;
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(60);

  private final Door door;
  private final List<Device> devices;
  private final String gatewayPassword;
  private final RandomGenerator random;

  MutatedPackets(Door door, List<Device> devices, String gatewayPassword, RandomGenerator random) {
    this.door = door;
    this.devices = devices;
    this.gatewayPassword = gatewayPassword;
    this.random = random;
  }

  byte[] connection(int packets) {
    MqttVersion version = random.nextBoolean() ? MqttVersion.V5 : MqttVersion.V3_1_1;
    boolean known = random.nextInt(8) < 5;
    boolean gentle = known && random.nextBoolean();
    var stream = new ByteArrayOutputStream(packets * 64);
    if (door.isWebSocket()) {
      stream.writeBytes(WebSocketBytes.UPGRADE);
    }
    if (known) {
      stream.writeBytes(framed(connect(version)));
    }
    for (int packet = 0; packet < packets; packet++) {
      byte[] good = packet(version, known ? 1 + random.nextInt(KINDS - 1) : random.nextInt(KINDS));
      boolean frameInstead = door.isWebSocket() && !gentle && random.nextInt(4) == 0;
      if (frameInstead) {
        stream.writeBytes(mutated(WebSocketBytes.frame(good, random)));
      } else {
        stream.writeBytes(framed(gentle ? touched(good) : mutated(good)));
      }
    }
    return stream.toByteArray();
  }

  private byte[] framed(byte[] packet) {
    return door.isWebSocket() ? WebSocketBytes.frame(packet, random) : packet;
  }

  private byte[] connect(MqttVersion version) {
    if (door == Door.GATEWAY) {
      return connect(
          version, "hostile-" + random.nextInt(1_000), "gateway", new Secret(gatewayPassword));
    }
    Device device = devices.get(random.nextInt(devices.size()));
    return connect(version, device.id().value(), device.app().value(), device.password());
  }

  private static byte[] connect(
      MqttVersion version, String clientId, String user, Secret password) {
    return ClientPackets.connect(
        new Connect(version, clientId, user, password, KEEP_ALIVE, Duration.ZERO));
  }

  private byte[] packet(MqttVersion version, int kind) {
    return switch (kind) {
      case 0 -> connect(version);
      case 1 -> ClientPackets.subscribe(version, 1 + random.nextInt(100), DeviceTopics.MESSAGES, 1);
      case 2 -> ClientPackets.unsubscribe(version, 9, DeviceTopics.MESSAGES);
      case 3 -> publish(version, 7, DeviceTopics.RECEIPTS, "{\"id\":\"x\",\"event\":\"opened\"}");
      case 4 -> publish(version, 8, DeviceTopics.UPLINK, "x".repeat(random.nextInt(200)));
      case 5 ->
          publish(version, 7, "gw/deliver", "{\"frame\":\"f\",\"letters\":[],\"targets\":[]}");
      case 6 -> puback(1 + random.nextInt(100));
      case 7 -> publish(version, 9, "gw/drain", "{\"devices\":[]}");
      default -> ClientPackets.ping();
    };
  }

  private static byte[] publish(MqttVersion version, int packetId, String topic, String payload) {
    return ClientPackets.publish(version, packetId, topic, payload.getBytes(UTF_8));
  }

  private static byte[] puback(int packetId) {
    var packet = ByteBuffer.allocate(4);
    ClientPackets.puback(packet, packetId);
    return packet.array();
  }

  /// Changes a byte after the fixed header, if there is one.
  private byte[] touched(byte[] good) {
    if (good.length < 4) {
      return good;
    }
    byte[] bytes = good.clone();
    bytes[2 + random.nextInt(bytes.length - 2)] ^= (byte) (1 + random.nextInt(255));
    return bytes;
  }

  private byte[] mutated(byte[] good) {
    byte[] bytes = good.clone();
    switch (random.nextInt(5)) {
      case 0 -> bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
      case 2 -> bytes = Arrays.copyOf(bytes, 1 + random.nextInt(bytes.length));
      case 3 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(20));
      default -> {
        for (int count = 0; count < 4; count++) {
          bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
        }
      }
    }
    return bytes;
  }
}
