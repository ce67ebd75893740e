package io.pushplanet.dashboard.device;

import io.pushplanet.dashboard.node.Nodes.Whereabouts;

/// Whether a device is connected over MQTT, in the words of its page.
///
/// @param tone the colour of the words
record Connection(String words, String tone) {
  static Connection of(Whereabouts whereabouts) {
    return switch (whereabouts) {
      case Whereabouts.Connected(var node) ->
          new Connection("connected to " + node.value(), "good");
      case Whereabouts.Away() -> new Connection("not connected", "plain");
      case Whereabouts.Unknown() -> new Connection("unknown: Redis does not answer", "warn");
    };
  }
}
