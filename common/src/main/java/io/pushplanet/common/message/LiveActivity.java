package io.pushplanet.common.message;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// An iPhone's Live Activity
/// (https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications).
/// Its alert, if any, is the message's content.
///
/// @param token the target instead of the device's token: the push-to-start token, or the
///     activity's own; null over a channel
/// @param contentState what the activity shows, in the app's form
/// @param attributesType name of the app's type; only for a start
/// @param attributes the constant attributes, in the app's form; only for a start
/// @param staleAt when the shown state is out of date
/// @param dismissAt when it leaves the screen; only for an end
/// @param relevance orders several activities
/// @param channel its broadcast channel, once the audience has been found; null otherwise
public record LiveActivity(
    Event event,
    @Nullable String token,
    ObjectNode contentState,
    @Nullable String attributesType,
    @Nullable ObjectNode attributes,
    @Nullable Instant staleAt,
    @Nullable Instant dismissAt,
    @Nullable Double relevance,
    @Nullable BroadcastChannel channel) {

  /// A channel over which Apple sends one request to all its followers
  /// (https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns).
  ///
  /// @param id Apple's
  /// @param keepsNewest whether Apple keeps the newest message for devices that are away
  public record BroadcastChannel(String id, boolean keepsNewest) {
    /// "the maximum payload size is 5 KB (5120 bytes)".
    public static final int LARGEST_PAYLOAD_BYTES = 5_120;
  }

  /// What happens to the activity.
  public enum Event {
    START,
    UPDATE,
    END
  }

  public LiveActivity {
    if ((event == Event.START) != (attributesType != null && attributes != null)) {
      throw new IllegalArgumentException(
          "a start has attributesType and attributes, and nothing else has them");
    }
    if (dismissAt != null && event != Event.END) {
      throw new IllegalArgumentException("only an end has dismissAt");
    }
    if (channel != null && (token != null || event == Event.START)) {
      throw new IllegalArgumentException("over a channel there is no token and no start");
    }
  }

  /// An activity that goes to a token, or whose channel is not found yet.
  public LiveActivity(
      Event event,
      @Nullable String token,
      ObjectNode contentState,
      @Nullable String attributesType,
      @Nullable ObjectNode attributes,
      @Nullable Instant staleAt,
      @Nullable Instant dismissAt,
      @Nullable Double relevance) {
    this(
        event,
        token,
        contentState,
        attributesType,
        attributes,
        staleAt,
        dismissAt,
        relevance,
        null);
  }

  public LiveActivity over(BroadcastChannel found) {
    return new LiveActivity(
        event,
        token,
        contentState,
        attributesType,
        attributes,
        staleAt,
        dismissAt,
        relevance,
        found);
  }

  @Override
  public String toString() {
    return "LiveActivity[" + event + ", ***]";
  }
}
