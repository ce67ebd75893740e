package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.mqtt.MqttPacket;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// A link to a peer of the plain listener that lives, and about whose address and network nothing
/// is known.
public interface PlainLink extends Link {
  @Override
  default @Nullable InetAddress source() {
    return null;
  }

  @Override
  default void closeIfPeerLeft() {}

  @Override
  default ListenerKind listenerKind() {
    return ListenerKind.MQTT;
  }

  @Override
  default boolean explains() {
    return false;
  }

  @Override
  default KeepAlive advised(MqttPacket.Connect connect, KeepAlive granted) {
    return granted;
  }

  @Override
  default boolean hasHeardSince(long nanos) {
    return true;
  }

  @Override
  default boolean hasSpoken() {
    return true;
  }

  @Override
  default void pathDied(long sentNanos) {}

  @Override
  default void teachesNothing() {}

  @Override
  default void watch() {}
}
