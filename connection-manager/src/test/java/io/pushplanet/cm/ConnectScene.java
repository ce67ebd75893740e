package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttPacket.Connect;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.session.DeviceKey;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;

/// The common part of the tests of CONNECT and its consequences: the shared node, and a device of
/// their own.
@ExtendWith(SharedNode.Resolver.class)
abstract class ConnectScene {
  static final Will WILL =
      new Will("push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE);

  final SharedNode at;
  final DeviceKey device = TestNode.newDevice();

  ConnectScene(SharedNode at) {
    this.at = at;
  }

  int refused(Connect connect) throws Exception {
    try (var client = at.raw(connect.version())) {
      int code = client.send(connect).expect(MqttPacket.ConnAck.class).code();
      assertThat(client.next()).isEmpty();
      return code;
    }
  }

  /// The same CONNECT from another device.
  static Connect of(DeviceKey other, Connect like) {
    var usual = RawClient.connect(like.version(), other);
    return new Connect(
        like.version(),
        like.cleanStart(),
        like.keepAliveSeconds(),
        usual.clientId(),
        usual.userName(),
        usual.password(),
        like.will(),
        like.properties());
  }

  Connect with(MqttVersion version, @Nullable Will will, MqttProperties properties) {
    var usual = RawClient.connect(version, device);
    return new Connect(
        version, true, 60, usual.clientId(), usual.userName(), usual.password(), will, properties);
  }

  Connect keepAlive(MqttVersion version, int seconds) {
    var usual = RawClient.connect(version, device);
    return new Connect(
        version,
        true,
        seconds,
        usual.clientId(),
        usual.userName(),
        usual.password(),
        null,
        MqttProperties.NONE);
  }

  static Connect renamed(Connect usual, String clientId) {
    return new Connect(
        usual.version(),
        true,
        60,
        clientId,
        usual.userName(),
        usual.password(),
        null,
        usual.properties());
  }

  static byte[] joined(MqttVersion version, MqttPacket... packets) {
    var bytes = new ByteArrayOutputStream();
    for (var packet : packets) {
      bytes.writeBytes(new PacketEncoder().encode(packet, version));
    }
    return bytes.toByteArray();
  }

  static ReasonCode told(MqttVersion version, ReasonCode reason) {
    return version == MqttVersion.V5 ? reason : ReasonCode.SUCCESS;
  }

  static MqttPacket.Publish uplink(int packetId, String payload, boolean duplicate) {
    return uplink(packetId, payload, duplicate, MqttProperties.NONE);
  }

  static MqttPacket.Publish uplink(
      int packetId, String payload, boolean duplicate, MqttProperties properties) {
    return new MqttPacket.Publish(
        "push/uplink",
        Binary.of(payload),
        QoS.AT_LEAST_ONCE,
        false,
        duplicate,
        packetId,
        properties);
  }

  /// The user properties of each of the device's uplinks, as its app's backend is told; empty for
  /// none.
  List<Optional<String>> userPropertiesOfUplinks() throws Exception {
    return at.uplinkEventsOf(device).stream()
        .map(uplink -> Optional.ofNullable(uplink.userProperties()).map(Json::text))
        .toList();
  }
}
