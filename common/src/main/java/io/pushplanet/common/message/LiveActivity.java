package io.pushplanet.common.message;

import java.time.Instant;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// What an iPhone shows of something that goes on
/// (https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications).
/// The alert, if there is one, is the message's content.
///
/// @param token where it goes instead of the device's token: the push-to-start token, or the activity's own
/// @param contentState what the activity shows, in the app's form
/// @param attributesType name of the app's type; of a start only
/// @param attributes what never changes, in the app's form; of a start only
/// @param staleAt when what is shown is out of date
/// @param dismissAt when it leaves the screen; of an end only
/// @param relevance which of several activities comes first
public record LiveActivity(
    Event event,
    String token,
    ObjectNode contentState,
    @Nullable String attributesType,
    @Nullable ObjectNode attributes,
    @Nullable Instant staleAt,
    @Nullable Instant dismissAt,
    @Nullable Double relevance) {

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
  }

  @Override
  public String toString() {
    return "LiveActivity[" + event + ", ***]";
  }
}
