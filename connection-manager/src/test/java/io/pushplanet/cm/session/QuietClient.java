package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.KeepAlive;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.mqtt.link.PlainLink;
import io.pushplanet.cm.transport.AtOnceLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.message.MessageId;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A device whose socket takes every byte and never reports that it is empty.
public class QuietClient implements DeviceSession.Owner, PlainLink {
  /// The messages, in the order in which they were sent.
  public final List<byte[]> sent = new ArrayList<>();

  private final Loop loop;
  private final MqttVersion version;

  /// With a loop that runs each task at once.
  public QuietClient() {
    this(new AtOnceLoop());
  }

  public QuietClient(Loop loop) {
    this(loop, MqttVersion.V5);
  }

  public QuietClient(Loop loop, MqttVersion version) {
    this.loop = loop;
    this.version = version;
  }

  /// The packet id of the last message, which was sent at QoS 1.
  public int lastPacketId() {
    return packetIds().getLast();
  }

  /// The packet ids of the messages, which were all sent at QoS 1.
  public List<Integer> packetIds() {
    return sent.stream().map(QuietClient::packetId).toList();
  }

  private static int packetId(byte[] publish) {
    var packet = ByteBuffer.wrap(publish).position(1);
    while (packet.get() < 0) {
      // The remaining length goes on.
    }
    int topicBytes = packet.getShort();
    return packet.getShort(packet.position() + topicBytes) & 0xFFFF;
  }

  @Override
  public Link link() {
    return this;
  }

  @Override
  public void askForParked() {}

  @Override
  public boolean isInboxAheadOf(MessageId fresh) {
    return false;
  }

  @Override
  public @Nullable OutboundMessage nextParked(@Nullable MessageId fresh) {
    return null;
  }

  @Override
  public void retire() {}

  @Override
  public Loop loop() {
    return loop;
  }

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public boolean isV5() {
    return version == MqttVersion.V5;
  }

  @Override
  public void accept(
      MqttVersion spoken, PacketLimits limits, KeepAlive keepAlive, boolean explains) {}

  @Override
  public void pauseReading() {}

  @Override
  public void resumeReading() {}

  @Override
  public void send(MqttPacket packet) {}

  @Override
  public byte[] encode(MqttPacket packet) {
    return new PacketEncoder().encode(packet, version);
  }

  @Override
  public void sendEncoded(byte[] packet) {
    sent.add(packet);
  }

  @Override
  public void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties) {}

  @Override
  public void disconnect(ReasonCode reason, String why) {}

  @Override
  public void disconnect(ReasonCode reason, MqttProperties properties) {}

  @Override
  public void close() {}
}
