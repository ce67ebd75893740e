package io.pushplanet.common.wire;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import java.time.Instant;
import java.util.List;

/// A gateway's publish to `gw/broadcast` on a node: one message and the many devices of one app
/// that get it. It says the same as a [NodeFrame] in a fifth of the bytes, and gets the same
/// answers.
///
/// @param frame the gateway's own number; the node's answers name it, and name devices by their
///     index in `devices`
/// @param answerBy when the gateway stops waiting for these devices
/// @param devices at most [#MAX_DEVICES]
/// @param epochs of the devices' owners as the gateway saw them, in the order of `devices`; see
///     [NodeFrame.Target]
public record NodeBroadcast(
    String frame,
    Instant answerBy,
    @JsonProperty("letter") NodeFrame.Message message,
    AppId app,
    List<DeviceId> devices,
    List<Long> epochs) {
  /// MQTT topic of the trusted listener.
  public static final String TOPIC = "gw/broadcast";

  /// So many devices with ids of full length fit into [NodeFrame#MAX_BYTES].
  public static final int MAX_DEVICES = 8_000;

  public NodeBroadcast {
    requireNonNull(frame, "frame");
    requireNonNull(answerBy, "answerBy");
    requireNonNull(message, "message");
    requireNonNull(app, "app");
    devices = List.copyOf(devices);
    epochs = List.copyOf(epochs);
    if (devices.size() > MAX_DEVICES || devices.size() != epochs.size()) {
      throw new IllegalArgumentException("at most 8,000 devices, with an epoch each");
    }
  }
}
