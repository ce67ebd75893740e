package io.pushplanet.cm;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.common.session.DeviceKey;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// A client that does exactly what the test says, right or wrong.
final class RawClient implements AutoCloseable {
  private static final PacketLimits LIMITS = PacketLimits.UNAUTHENTICATED.withPacketBytes(1 << 22);

  private final Socket socket;
  private final MqttVersion version;
  private ByteBuffer input = ByteBuffer.allocate(1 << 20).flip();

  RawClient(int port, MqttVersion version) throws IOException {
    this(new Socket("127.0.0.1", port), version);
  }

  RawClient(Socket socket, MqttVersion version) throws IOException {
    this.socket = socket;
    this.version = version;
    socket.setSoTimeout(60_000);
  }

  /// Returns a client that was accepted.
  static RawClient connected(int port, MqttPacket.Connect connect) throws IOException {
    var client = new RawClient(port, connect.version());
    int code = client.send(connect).expect(MqttPacket.ConnAck.class).code();
    if (code != 0) {
      throw new AssertionError("refused with " + code);
    }
    return client;
  }

  /// Returns a client that was accepted and has subscribed.
  static RawClient subscribed(int port, MqttPacket.Connect connect) throws IOException {
    var client = connected(port, connect);
    client.subscribe().expect(MqttPacket.SubAck.class);
    return client;
  }

  static MqttPacket.Connect connect(MqttVersion version, DeviceKey device) {
    return connect(version, device, true, MqttProperties.NONE);
  }

  static MqttPacket.Connect connect(
      MqttVersion version, DeviceKey device, boolean clean, MqttProperties properties) {
    return new MqttPacket.Connect(
        version,
        clean,
        60,
        device.device().value(),
        device.app().value(),
        Binary.of(TestNode.credential(device)),
        null,
        properties);
  }

  /// The same with a will whose payload is `gone`.
  static MqttPacket.Connect withWill(MqttPacket.Connect usual) {
    return new MqttPacket.Connect(
        usual.version(),
        usual.cleanStart(),
        usual.keepAliveSeconds(),
        usual.clientId(),
        usual.userName(),
        usual.password(),
        new Will("push/uplink", Binary.of("gone"), QoS.AT_LEAST_ONCE, false, MqttProperties.NONE),
        usual.properties());
  }

  /// The CONNECT of a device that has never connected.
  static MqttPacket.Connect withWrongPassword() {
    return withWrongPassword(connect(MqttVersion.V5, TestNode.newDevice()));
  }

  static MqttPacket.Connect withWrongPassword(MqttPacket.Connect usual) {
    return new MqttPacket.Connect(
        usual.version(),
        usual.cleanStart(),
        usual.keepAliveSeconds(),
        usual.clientId(),
        usual.userName(),
        Binary.of("wrong"),
        usual.will(),
        usual.properties());
  }

  RawClient send(MqttPacket packet) throws IOException {
    return send(new PacketEncoder().encode(packet, version));
  }

  RawClient send(byte[] bytes) throws IOException {
    socket.getOutputStream().write(bytes);
    socket.getOutputStream().flush();
    return this;
  }

  RawClient subscribe() throws IOException {
    return send(
        new MqttPacket.Subscribe(
            1,
            List.of(new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
            MqttProperties.NONE));
  }

  RawClient publish(String topic, String payload, QoS qos, boolean retain) throws IOException {
    return send(
        new MqttPacket.Publish(
            topic,
            Binary.of(payload),
            qos,
            retain,
            false,
            qos == QoS.AT_MOST_ONCE ? 0 : 7,
            MqttProperties.NONE));
  }

  void patience(Duration longest) throws IOException {
    socket.setSoTimeout((int) longest.toMillis());
  }

  /// Reads until the server has closed.
  void drainToEnd() throws IOException {
    var chunk = new byte[4096];
    try {
      while (socket.getInputStream().read(chunk) >= 0) {}
    } catch (SocketTimeoutException silence) {
      throw new AssertionError("the server did not close", silence);
    } catch (IOException reset) {
      // The server has closed.
    }
  }

  /// The next packet; empty when the server closed. Waits at most a minute.
  Optional<MqttPacket> next() throws IOException {
    while (true) {
      if (input.hasRemaining()) {
        switch (new PacketDecoder().decode(input, version, LIMITS)) {
          case DecodeOutcome.Decoded(var packet) -> {
            return Optional.of(packet);
          }
          case DecodeOutcome.Refused refused ->
              throw new AssertionError("the server sent rubbish: " + refused);
          case DecodeOutcome.Incomplete _ -> {}
        }
      }
      var chunk = new byte[64 * 1024];
      int read;
      try {
        read = socket.getInputStream().read(chunk);
      } catch (SocketTimeoutException silence) {
        throw new AssertionError("nothing came in time", silence);
      } catch (IOException reset) {
        return Optional.empty();
      }
      if (read < 0) {
        return Optional.empty();
      }
      var grown = ByteBuffer.allocate(input.remaining() + read);
      grown.put(input).put(chunk, 0, read);
      input = grown.flip();
    }
  }

  <T extends MqttPacket> T expect(Class<T> type) throws IOException {
    var packet = next().orElseThrow(() -> new AssertionError("closed instead of " + type));
    if (!type.isInstance(packet)) {
      throw new AssertionError("expected " + type.getSimpleName() + " but got " + packet);
    }
    return type.cast(packet);
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
