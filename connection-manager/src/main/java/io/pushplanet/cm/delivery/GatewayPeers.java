package io.pushplanet.cm.delivery;

import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.common.session.DeviceKey;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

/// Accepts the connections of gateways on the trusted listener. Thread-safe.
public final class GatewayPeers {
  private final DeliverySettings settings;
  private final DeliveryMetrics metrics;
  private final FrameDispatch dispatch;
  private final BroadcastDispatch broadcasts;
  private final Executor readers;

  /// @param readers runs the reading of large frames: virtual threads
  GatewayPeers(
      DeliverySettings settings,
      DeliveryMetrics metrics,
      FrameDispatch dispatch,
      BroadcastDispatch broadcasts,
      Executor readers) {
    this.settings = settings;
    this.metrics = metrics;
    this.dispatch = dispatch;
    this.broadcasts = broadcasts;
    this.readers = readers;
  }

  /// The peer behind a new link.
  ///
  /// @param drain called with each device whose inbox has something, as the gateway says
  public MqttPeer accepted(Link link, Consumer<DeviceKey> drain) {
    return new GatewayPeer(link, settings, metrics, dispatch, broadcasts, drain, readers);
  }
}
