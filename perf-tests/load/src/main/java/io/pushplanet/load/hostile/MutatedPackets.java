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

/// The packets of one connection after the other, each changed at some place. A node ends a
/// connection at the first packet that it refuses, so a connection is one of three kinds:
/// - A quarter of them are strangers: not even the first packet is a good CONNECT.
/// - A quarter log in, so that the code behind the CONNECT is attacked as well, and send a few
///   packets that are changed anywhere.
/// - Half log in and send many packets of which only the contents are changed: texts, numbers,
///   options, reason codes, payloads. The node decodes and answers nearly all of these. The last
///   one is changed anywhere.
///
/// Confined to one thread; the same seed gives the same bytes.
final class MutatedPackets {
  private static final int KINDS = 8;
  private static final int FEW = 4;
  private static final Duration KEEP_ALIVE = Duration.ofSeconds(60);
  private static final String RECEIPT = "{\"id\":\"x\",\"event\":\"opened\"}";
  private static final String FRAME = "{\"frame\":\"f\",\"letters\":[],\"targets\":[]}";

  /// A node logs a frame that it cannot read, so these are few.
  private static final int FRAMES_ONE_IN = 16;

  /// The reason codes of a PUBACK
  /// (https://docs.oasis-open.org/mqtt/mqtt/v5.0/os/mqtt-v5.0-os.html#_Toc3901124).
  private static final int[] PUBACK_REASONS = {0, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99};

  private static final int REASON_STRING = 0x1F;

  /// Completes nearly every packet that declares more than it has.
  private static final int ZEROS = 512;

  private final Door door;
  private final List<Device> devices;
  private final String gatewayPassword;
  private final int most;
  private final RandomGenerator random;

  /// @param most packets of a connection
  MutatedPackets(
      Door door, List<Device> devices, String gatewayPassword, int most, RandomGenerator random) {
    this.door = door;
    this.devices = devices;
    this.gatewayPassword = gatewayPassword;
    this.most = most;
    this.random = random;
  }

  /// The next connection.
  Pipeline connection() {
    MqttVersion version = random.nextBoolean() ? MqttVersion.V5 : MqttVersion.V3_1_1;
    int kind = random.nextInt(4);
    boolean logsIn = kind > 0;
    int packets = kind > 1 ? most : Math.min(FEW, most);
    var stream = new ByteArrayOutputStream(packets * 64 + 2 * ZEROS);
    if (door.isWebSocket()) {
      stream.writeBytes(WebSocketBytes.UPGRADE);
    }
    if (logsIn) {
      stream.writeBytes(framed(connect(version)));
    }
    for (int packet = 0; packet < packets; packet++) {
      boolean anywhere = kind < 2 || packet == packets - 1;
      stream.writeBytes(anywhere ? wild(version, logsIn) : framed(gentle(version)));
      stream.writeBytes(framed(ClientPackets.ping()));
    }
    stream.writeBytes(framed(new byte[ZEROS]));
    return new Pipeline(stream.toByteArray(), packets, logsIn);
  }

  /// A packet, or the frame around it, that is changed anywhere.
  private byte[] wild(MqttVersion version, boolean loggedIn) {
    byte[] good = packet(version, loggedIn ? 1 + random.nextInt(KINDS - 1) : random.nextInt(KINDS));
    if (door.isWebSocket() && random.nextInt(4) == 0) {
      return mutated(WebSocketBytes.frame(good, random));
    }
    return framed(random.nextInt(4) == 0 ? touched(good) : mutated(good));
  }

  /// A packet with other contents, which the node decodes.
  private byte[] gentle(MqttVersion version) {
    int id = 1 + random.nextInt(0xFFFF);
    boolean five = version == MqttVersion.V5;
    return switch (random.nextInt(5)) {
      case 0 -> ClientPackets.subscribe(version, id, changedText(filter(), ""), options(five));
      case 1 -> ClientPackets.unsubscribe(version, id, changedText(filter(), ""));
      case 2 -> puback(five, id);
      case 3 -> gentlePublish(version, id);
      default ->
          // Over 3.1.1 a device is disconnected for a topic that is not its own.
          five || door == Door.GATEWAY
              ? publish(version, id, changedText(filter(), "+#"), RECEIPT)
              : puback(false, id);
    };
  }

  private String filter() {
    return door == Door.GATEWAY ? "gw/outcomes/hostile" : DeviceTopics.MESSAGES;
  }

  private int options(boolean five) {
    int qos = random.nextInt(3);
    if (!five) {
      return qos;
    }
    int retainHandling = random.nextInt(3);
    return retainHandling << 4 | (random.nextInt(4) << 2) | qos;
  }

  private byte[] gentlePublish(MqttVersion version, int id) {
    if (door != Door.GATEWAY) {
      return ClientPackets.publish(version, id, DeviceTopics.RECEIPTS, changedBytes(RECEIPT));
    }
    return random.nextInt(FRAMES_ONE_IN) == 0
        ? ClientPackets.publish(version, id, "gw/deliver", changedBytes(FRAME))
        : puback(version == MqttVersion.V5, id);
  }

  private byte[] puback(boolean five, int packetId) {
    if (!five || random.nextBoolean()) {
      return puback(packetId);
    }
    byte[] why = changedText("no room left", "").getBytes(UTF_8);
    var packet = ByteBuffer.allocate(9 + why.length);
    packet.put((byte) 0x40).put((byte) (7 + why.length)).putShort((short) packetId);
    packet.put((byte) PUBACK_REASONS[random.nextInt(PUBACK_REASONS.length)]);
    packet.put((byte) (3 + why.length)).put((byte) REASON_STRING).putShort((short) why.length);
    return packet.put(why).array();
  }

  /// Puts up to four other characters into a text, none of which is a slash: topics have few
  /// levels.
  ///
  /// @param without further characters that it does not get
  private String changedText(String good, String without) {
    char[] text = good.toCharArray();
    for (int count = 1 + random.nextInt(4); count > 0; count--) {
      boolean ascii = random.nextInt(16) > 0;
      char other = (char) (ascii ? random.nextInt('!', 0x7F) : random.nextInt(0x80, 0x800));
      if (other != '/' && without.indexOf(other) < 0) {
        text[random.nextInt(text.length)] = other;
      }
    }
    return new String(text);
  }

  /// Changes up to four bytes.
  private byte[] changedBytes(String good) {
    byte[] bytes = good.getBytes(UTF_8);
    for (int count = 1 + random.nextInt(4); count > 0; count--) {
      bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
    }
    return bytes;
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
      case 3 -> publish(version, 7, DeviceTopics.RECEIPTS, RECEIPT);
      case 4 -> publish(version, 8, DeviceTopics.UPLINK, "x".repeat(random.nextInt(200)));
      case 5 -> publish(version, 7, "gw/deliver", FRAME);
      case 6 -> puback(1 + random.nextInt(100));
      default -> publish(version, 9, "gw/drain", "{\"devices\":[]}");
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
