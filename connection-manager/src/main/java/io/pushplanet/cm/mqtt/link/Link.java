package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.transport.Loop;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// One peer's connection, seen from above the wire format: an [MqttLink], or a simulated one.
/// Confined to its loop.
public interface Link {
  Loop loop();

  /// The peer's address until it has been [accepted][#accept]; null from then on, or if it has
  /// none.
  @Nullable InetAddress source();

  boolean isOpen();

  /// Closes the link if the peer has gone, which is not noticed while reading pauses.
  void closeIfPeerLeft();

  boolean isV5();

  ListenerKind listenerKind();

  /// Whether the client wants reason strings.
  boolean explains();

  /// The CONNECT is accepted, and from now on these rules apply. `explains`: the client wants
  /// reason strings.
  void accept(MqttVersion spoken, PacketLimits limits, KeepAlive keepAlive, boolean explains);

  /// The keep-alive to grant instead of `granted`, from what is known about the peer's network.
  KeepAlive advised(MqttPacket.Connect connect, KeepAlive granted);

  /// Whether any bytes have come since then, so that the peer lives, however slow it is. Bytes that
  /// lay unread until [#resumeReading] may have come at any time.
  boolean hasHeardSince(long nanos);

  /// Whether the peer has sent a packet since it was accepted. Packets that are read in the turn of
  /// [#resumeReading] were sent before.
  boolean hasSpoken();

  /// No bytes have come since a packet was sent at that time: the path to the peer is dead.
  void pathDied(long sentNanos);

  /// The peer does not acknowledge, so packets sent to it prove nothing about its path.
  void teachesNothing();

  /// From now on the peer is [swept][MqttPeer#swept] every second; a write has the same effect.
  void watch();

  /// Until [#resumeReading] the peer does not count as silent.
  void pauseReading();

  void resumeReading();

  void send(MqttPacket packet);

  /// Encodes the packet for this link.
  byte[] encode(MqttPacket packet);

  void sendEncoded(byte[] packet);

  /// Answers a CONNECT with a refusal, if its version has a code for it, and closes.
  void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties);

  /// Ends an accepted connection. An MQTT 5 client is told why; 3.1.1 has no packet for that.
  void disconnect(ReasonCode reason, String why);

  void disconnect(ReasonCode reason, MqttProperties properties);

  /// Closes after the peer's DISCONNECT. The socket may linger.
  void close();
}
