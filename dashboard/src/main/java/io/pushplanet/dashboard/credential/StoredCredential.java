package io.pushplanet.dashboard.credential;

import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// A row of `credentials`, without the secret.
record StoredCredential(
    long id,
    String provider,
    String environment,
    String kind,
    String state,
    String detail,
    @Nullable Instant expiresAt,
    Instant createdAt,
    String createdBy) {
  public boolean active() {
    return state.equals("active");
  }

  public String title() {
    return switch (kind) {
      case "p8" -> "APNs key (.p8)";
      case "p12" -> "APNs certificate (.p12)";
      case "service_account" -> "FCM service account";
      case "vapid" -> "Web Push key (VAPID)";
      default -> provider + " " + kind;
    };
  }

  /// `Team id` -> `ABCDE12345`
  public Map<String, String> details() {
    Map<String, String> details = new LinkedHashMap<>();
    WireForm.mapper()
        .readTree(detail)
        .properties()
        .forEach(field -> details.put(words(field.getKey()), field.getValue().asString("")));
    return details;
  }

  private static String words(String field) {
    return Character.toUpperCase(field.charAt(0)) + field.substring(1).replace('_', ' ');
  }
}
