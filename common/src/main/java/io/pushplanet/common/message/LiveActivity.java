package io.pushplanet.common.message;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What an iPhone shows of something that goes on
/// (https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications).
/// The alert, if there is one, is the message's content.
///
/// @param token where it goes instead of the device's token: the push-to-start token, or the activity's own; null over a channel
/// @param contentState what the activity shows, in the app's form
/// @param attributesType name of the app's type; of a start only
/// @param attributes what never changes, in the app's form; of a start only
/// @param staleAt when what is shown is out of date
/// @param dismissAt when it leaves the screen; of an end only
/// @param relevance which of several activities comes first
/// @param channel the broadcast channel it goes to, once the audience has been found; null otherwise
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

  /// Where Apple spreads one request to everybody who follows
  /// (https://developer.apple.com/documentation/usernotifications/sending-broadcast-push-notification-requests-to-apns).
  ///
  /// @param id Apple's
  /// @param keepsNewest whether Apple keeps the newest message for devices that are away
  public record BroadcastChannel(String id, boolean keepsNewest) {}

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

  /// One that goes to a token, or whose channel is not found yet.
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
