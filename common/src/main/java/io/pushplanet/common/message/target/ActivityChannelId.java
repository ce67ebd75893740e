package io.pushplanet.common.message.target;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;

/// Our name of a broadcast channel for Live Activities: `channel-` and a UUID. Apple's own name
/// exists only after Apple has created the channel.
public record ActivityChannelId(@JsonValue String value) {
  private static final String PREFIX = "channel-";

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public ActivityChannelId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("a channel id is \"channel-\" and a UUID");
    }
  }

  /// The name with a fresh UUID.
  public static ActivityChannelId of(MessageId fresh) {
    return new ActivityChannelId(PREFIX + fresh.value());
  }

  public static boolean isValid(String value) {
    return value.startsWith(PREFIX) && MessageId.isValid(value.substring(PREFIX.length()));
  }

  /// The recipient of a message over this channel: it is reported, counted and cancelled like a
  /// device.
  public DeviceId recipient() {
    return new DeviceId(value);
  }

  @Override
  public String toString() {
    return value;
  }
}
