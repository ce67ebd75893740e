package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.ReasonCode;

/// Answers the packets of one connection's peer. Called only on the link's event loop; must not
/// block.
public interface MqttPeer {

  void packet(MqttPacket packet);

  /// The link is about to end because the peer violated the protocol, a limit or its keep-alive.
  /// [#closed] follows.
  void refused(ReasonCode reason, String why);

  void flushed();

  /// As [io.pushplanet.cm.transport.ConnectionHandler#swept].
  boolean swept(long nowNanos);

  /// This process stops, and the link closes after this call. The peer may send a last packet.
  void stopping();

  /// The kernel has given the connection up, because the peer's system had not answered for too
  /// long. [#closed] follows.
  default void pathDied() {}

  /// The connection has ended, though its socket may linger. No call follows.
  void closed();
}
