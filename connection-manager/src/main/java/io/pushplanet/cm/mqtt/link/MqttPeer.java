package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.ReasonCode;

/// Who is at the other end: answers its packets. Called only on the link's event loop; must not block.
public interface MqttPeer {

  void packet(MqttPacket packet);

  /// The link was closed because the peer broke the protocol, a limit or its keep-alive. [#closed] follows.
  void refused(ReasonCode reason, String why);

  void flushed();

  /// As [io.pushplanet.cm.transport.ConnectionHandler#swept].
  boolean swept(long nowNanos);

  /// The last call.
  void closed();
}
