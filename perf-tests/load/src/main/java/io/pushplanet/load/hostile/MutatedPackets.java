package io.pushplanet.load.hostile;

import io.pushplanet.load.fleet.Device;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;

/// The packets of one connection, each changed at some place. A good half of the connections log in
/// first, so that the code behind the CONNECT is attacked as well. Half of these change only bytes
/// after the fixed header and keep the length, so that the node judges many of their packets before
/// it refuses one. Confined to one thread; the same seed gives the same bytes.
final class MutatedPackets {
  private static final int KINDS = 9;

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
    int level = random.nextBoolean() ? 5 : 4;
    boolean known = random.nextInt(8) < 5;
    boolean gentle = known && random.nextBoolean();
    var stream = new ByteArrayOutputStream(packets * 64);
    if (door.isWebSocket()) {
      stream.writeBytes(Wire.UPGRADE);
    }
    if (known) {
      stream.writeBytes(framed(connect(level)));
    }
    for (int packet = 0; packet < packets; packet++) {
      byte[] good = packet(level, known ? 1 + random.nextInt(KINDS - 1) : random.nextInt(KINDS));
      boolean frameInstead = door.isWebSocket() && !gentle && random.nextInt(4) == 0;
      if (frameInstead) {
        stream.writeBytes(mutated(Wire.frame(good, random)));
      } else {
        stream.writeBytes(framed(gentle ? touched(good) : mutated(good)));
      }
    }
    return stream.toByteArray();
  }

  private byte[] framed(byte[] packet) {
    return door.isWebSocket() ? Wire.frame(packet, random) : packet;
  }

  private byte[] connect(int level) {
    if (door == Door.GATEWAY) {
      return Wire.connect(level, "hostile-" + random.nextInt(1_000), "gateway", gatewayPassword);
    }
    Device device = devices.get(random.nextInt(devices.size()));
    return Wire.connect(
        level, device.id().value(), device.app().value(), device.password().reveal());
  }

  private byte[] packet(int level, int kind) {
    return switch (kind) {
      case 0 -> connect(level);
      case 1 -> Wire.subscribe(level, 1 + random.nextInt(100), "push/messages");
      case 2 -> Wire.unsubscribe(level, 9, "push/messages");
      case 3 -> Wire.publish(level, 7, "push/receipts", "{\"id\":\"x\",\"event\":\"opened\"}");
      case 4 -> Wire.publish(level, 8, "push/uplink", "x".repeat(random.nextInt(200)));
      case 5 ->
          Wire.publish(level, 7, "gw/deliver", "{\"frame\":\"f\",\"letters\":[],\"targets\":[]}");
      case 6 -> Wire.puback(1 + random.nextInt(100));
      case 7 -> Wire.publish(level, 9, "gw/drain", "{\"devices\":[]}");
      default -> Wire.ping();
    };
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
