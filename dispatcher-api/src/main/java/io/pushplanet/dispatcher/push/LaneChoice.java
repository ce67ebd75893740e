package io.pushplanet.dispatcher.push;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.Recipient;
import java.util.List;
import java.util.Optional;

/// Which channel a recipient's message tries first.
final class LaneChoice {
  private LaneChoice() {}

  /// @param connected whether the directory says so; where the directory cannot be asked, true
  /// @return empty when no way leads to the device
  static Optional<Channel> first(Recipient recipient, Route route, boolean connected) {
    Optional<Channel> vendor = recipient.vendor(List.of());
    Optional<Channel> mqtt = recipient.mqtt() ? Optional.of(Channel.MQTT) : Optional.empty();
    return switch (route) {
      case AUTO -> connected ? mqtt.or(() -> vendor) : vendor.or(() -> mqtt);
      case MQTT -> mqtt;
      case VENDOR -> vendor;
    };
  }
}
