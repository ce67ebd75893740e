package io.pushplanet.common.message;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The texts that the device shows and the data that its app gets. At least one of the three is
/// given.
///
/// @param data strings only, because FCM's data message takes nothing else
///     (https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages#Message.FIELDS.data)
public record Content(@Nullable String title, @Nullable String body, Map<String, String> data) {
  public Content {
    data = data == null ? Map.of() : Map.copyOf(data);
    if (title == null && body == null && data.isEmpty()) {
      throw new IllegalArgumentException("content needs a title, a body or data");
    }
  }

  /// The field in which a vendor's payload carries the message's id beside the data: an `id` of the
  /// caller's own stays as it is.
  public String idField() {
    return idField(data.containsKey("id"));
  }

  /// @param taken whether the data of the vendor's payload have an `id`
  public static String idField(boolean taken) {
    return taken ? "pushplanet_id" : "id";
  }
}
