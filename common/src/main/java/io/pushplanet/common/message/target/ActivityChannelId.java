package io.pushplanet.common.message.target;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;

/// A broadcast channel for Live Activities, as we name it: `channel-` and a UUID. Apple's own name exists only once Apple has
/// made it.
public record ActivityChannelId(@JsonValue String value) {
  private static final String PREFIX = "channel-";

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ActivityChannelId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("a channel id is \"channel-\" and a UUID");
    }
  }

  /// The one that goes with a fresh UUID.
  public static ActivityChannelId of(MessageId fresh) {
    return new ActivityChannelId(PREFIX + fresh.value());
  }

  public static boolean isValid(String value) {
    return value.startsWith(PREFIX) && MessageId.isValid(value.substring(PREFIX.length()));
  }

  /// The recipient that a message over this channel has: it is told, counted and cancelled like a device.
  public DeviceId recipient() {
    return new DeviceId(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
