package io.pushplanet.common.message.target;

import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.pushplanet.common.device.DeviceId;
import java.util.List;

/// The addressees of a message, as the caller gave them.
@JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
@JsonSubTypes({
  @JsonSubTypes.Type(value = Audience.Devices.class, name = "devices"),
  @JsonSubTypes.Type(value = Audience.Users.class, name = "users"),
  @JsonSubTypes.Type(value = Audience.Topic.class, name = "topic"),
  @JsonSubTypes.Type(value = Audience.Tag.class, name = "tag"),
  @JsonSubTypes.Type(value = Audience.All.class, name = "all"),
  @JsonSubTypes.Type(value = Audience.And.class, name = "and"),
  @JsonSubTypes.Type(value = Audience.Or.class, name = "or"),
  @JsonSubTypes.Type(value = Audience.Not.class, name = "not"),
  @JsonSubTypes.Type(value = Audience.ActivityChannel.class, name = "channel"),
  @JsonSubTypes.Type(value = Audience.FcmTopic.class, name = "fcm_topic"),
  @JsonSubTypes.Type(value = Audience.FcmCondition.class, name = "fcm_condition")
})
public sealed interface Audience {
  /// `device` and `devices`.
  record Devices(List<DeviceId> devices) implements Audience {
    public static final int MAX = 1_000;

    public Devices {
      devices = List.copyOf(devices);
      if (devices.isEmpty() || devices.size() > MAX) {
        throw new IllegalArgumentException("devices are 1 to 1,000");
      }
    }
  }

  /// `user` and `users`: every device registered for them.
  record Users(List<String> users) implements Audience {
    public Users {
      users = List.copyOf(users);
    }
  }

  /// Every device subscribed to a topic; expanded by the fan-out role.
  record Topic(String topic) implements Audience {}

  /// Every device that carries a tag; expanded by the fan-out role.
  record Tag(String tag) implements Audience {}

  /// Every device of the app; expanded by the fan-out role.
  record All() implements Audience {}

  /// Every device that each part names; expanded by the fan-out role.
  record And(List<Audience> parts) implements Audience {
    public And {
      parts = some(parts);
    }
  }

  /// Every device that at least one part names; expanded by the fan-out role.
  record Or(List<Audience> parts) implements Audience {
    public Or {
      parts = some(parts);
    }
  }

  /// Every device of the app that the part does not name; expanded by the fan-out role.
  record Not(Audience part) implements Audience {}

  /// Devices that only a vendor knows. The vendor gets one address, which stands as the one
  /// recipient.
  sealed interface SpreadByVendor extends Audience {}

  /// The followers of a broadcast channel for Live Activities, whom only Apple knows.
  record ActivityChannel(ActivityChannelId channel) implements SpreadByVendor {}

  /// The followers of Firebase topics, whom only Google knows.
  sealed interface FcmFollowers extends SpreadByVendor {}

  /// @param topic the bare name, without `/topics/`
  record FcmTopic(String topic) implements FcmFollowers {}

  /// @param condition on topics, as Google takes it: `'a' in topics && 'b' in topics`
  record FcmCondition(String condition) implements FcmFollowers {}

  private static List<Audience> some(List<Audience> parts) {
    if (parts.isEmpty()) {
      throw new IllegalArgumentException("and, or: at least one part");
    }
    return List.copyOf(parts);
  }
}
