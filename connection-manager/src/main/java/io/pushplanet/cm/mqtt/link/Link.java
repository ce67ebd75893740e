package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.transport.Loop;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// One peer's connection, as everything above the wire sees it: an [MqttLink], or a simulated one. Confined to its loop.
public interface Link {
  Loop loop();

  /// Where the peer comes from, until it has been [accepted][#accept]; null from then on, or when it is nowhere.
  default @Nullable InetAddress source() {
    return null;
  }

  boolean isOpen();

  /// Closes where the peer is gone already, which is not heard of while reading pauses.
  default void closeIfPeerLeft() {}

  boolean isV5();

  default Door door() {
    return Door.MQTT;
  }

  /// Whether the client wants reason strings.
  default boolean explains() {
    return false;
  }

  /// The CONNECT was good; from now on these rules hold. `explains`: the client wants reason strings.
  void accept(MqttVersion spoken, PacketLimits limits, KeepAlive keepAlive, boolean explains);

  /// What to grant instead of `granted`, by what is known of the peer's network.
  default KeepAlive advised(MqttPacket.Connect connect, KeepAlive granted) {
    return granted;
  }

  /// Whether anything came since then: the peer lives, however slow it is. What lay unread until [#resumeReading] may have come
  /// at any time.
  default boolean hasHeardSince(long nanos) {
    return true;
  }

  /// Whether the peer has said anything since it was accepted. What is read in the turn of [#resumeReading] was sent before.
  default boolean hasSpoken() {
    return true;
  }

  /// Nothing came since something was sent at that time: the path to the peer is dead.
  default void pathDied(long sentNanos) {}

  /// What is sent to this peer says nothing about its path, because it does not acknowledge.
  default void teachesNothing() {}

  /// Something begins that the peer has to be [MqttPeer#swept] for; writing does as well.
  default void watch() {}

  /// Until [#resumeReading] the peer is not silent, whatever it does.
  void pauseReading();

  void resumeReading();

  void send(MqttPacket packet);

  /// The bytes of this packet on this link.
  byte[] encode(MqttPacket packet);

  void sendEncoded(byte[] packet);

  /// Answers a CONNECT with a refusal, as far as its version has a word for it, and closes.
  void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties);

  /// Ends an accepted connection. An MQTT 5 client is told why; 3.1.1 has no word for it.
  void disconnect(ReasonCode reason, String why);

  void disconnect(ReasonCode reason, MqttProperties properties);

  /// The peer said goodbye. Its socket may linger.
  void close();
}
