package io.pushplanet.common.wire;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonProperty;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A gateway's publish to `gw/deliver` on a node: messages and the devices that get them.
///
/// @param frame the gateway's own number; the node's answers name it
/// @param answerBy when the gateway stops waiting for these targets
public record NodeFrame(
    String frame,
    Instant answerBy,
    @JsonProperty("letters") List<Message> messages,
    List<Target> targets) {
  /// MQTT topics of the trusted listener.
  public static final String DELIVER_TOPIC = "gw/deliver";

  public static final String DRAIN_TOPIC = "gw/drain";

  /// Followed by the gateway's client id.
  public static final String OUTCOMES_TOPIC = "gw/outcomes/";

  /// The trusted listener refuses a longer one.
  public static final int MAX_BYTES = 1 << 20;

  public NodeFrame {
    requireNonNull(frame, "frame");
    requireNonNull(answerBy, "answerBy");
    messages = List.copyOf(messages);
    targets = List.copyOf(targets);
  }

  /// @param payload the JSON text that the device gets, byte for byte
  public record Message(MessageId id, Instant expiresAt, String payload) {
    public Message {
      requireNonNull(id, "id");
      requireNonNull(expiresAt, "expiresAt");
      requireNonNull(payload, "payload");
    }
  }

  /// The node checks it, so that a target without a device leaves the frame's others readable.
  ///
  /// @param message index into the frame's messages
  /// @param epoch of the device's owner as the gateway saw it; a node with an older session does
  ///     not deliver. Null where the gateway did not look it up
  public record Target(
      AppId app, DeviceId device, @JsonProperty("letter") int message, @Nullable Long epoch) {}

  /// A gateway's publish to `gw/drain`: devices that may be connected and have messages in their
  /// inboxes.
  public record Drain(List<Device> devices) {
    public Drain {
      devices = List.copyOf(devices);
    }

    public record Device(AppId app, DeviceId device) {
      public Device {
        requireNonNull(app, "app");
        requireNonNull(device, "device");
      }
    }
  }
}
