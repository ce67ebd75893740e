package io.pushplanet.dashboard.credential;

import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A row of `credentials`, without the secret.
///
/// @param state `candidate`, `active`, `overlapping`, `retired`
/// @param overlapUntil until when a replaced credential is kept
/// @param pausedAt since when its provider refuses it, so that nothing is sent with it
/// @param probeAt when a worker tries it at the provider; null when no try is wanted
/// @param probeVerdict the result of that: `accepted`, `refused`, `unreachable`
record StoredCredential(
    long id,
    String provider,
    String environment,
    String kind,
    String state,
    String detail,
    @Nullable Instant expiresAt,
    Instant createdAt,
    String createdBy,
    @Nullable Instant overlapUntil,
    @Nullable Instant pausedAt,
    @Nullable String pauseReason,
    @Nullable Instant probeAt,
    @Nullable Instant probedAt,
    @Nullable String probeVerdict,
    @Nullable String probeReason) {
  public boolean active() {
    return state.equals("active");
  }

  public boolean candidate() {
    return state.equals("candidate");
  }

  public boolean overlapping() {
    return state.equals("overlapping");
  }

  public boolean paused() {
    return pausedAt != null;
  }

  /// Whether a worker was asked to try it and has not answered yet.
  public boolean beingTried() {
    return probeAt != null && probeVerdict == null;
  }

  public boolean accepted() {
    return "accepted".equals(probeVerdict);
  }

  public boolean refused() {
    return "refused".equals(probeVerdict);
  }

  /// Whether the provider could not be asked, or did not say.
  public boolean unreachable() {
    return "unreachable".equals(probeVerdict);
  }

  /// The result of the try, to stand before the provider's words. A try sends to a device that does
  /// not exist: a good credential is told so.
  public String tried() {
    if (!canBeTried()) {
      return "";
    }
    return accepted()
        ? "accepted; about a device that does not exist it said"
        : Objects.requireNonNullElse(probeVerdict, "");
  }

  /// A push service knows the key only in connection with a subscription, so there is nothing to
  /// try it with.
  public boolean canBeTried() {
    return !provider.equals("webpush");
  }

  public String title() {
    return switch (kind) {
      case "p8" -> "APNs key (.p8)";
      case "p12" -> "APNs certificate (.p12)";
      case "service_account" -> "FCM service account";
      case "client_secret" -> "Huawei Push Kit client";
      case "vapid" -> "Web Push key (VAPID)";
      default -> provider + " " + kind;
    };
  }

  public String badge() {
    if (paused()) {
      return "paused";
    }
    if (candidate()) {
      return refused() ? "refused" : "not active";
    }
    return overlapping() ? "kept for a while" : state;
  }

  public String tone() {
    if (paused() || (candidate() && refused())) {
      return "bad";
    }
    if (candidate()) {
      return "warn";
    }
    return active() ? "good" : "";
  }

  /// The meaning of the provider's error code, and the remedy.
  public String advice() {
    return Advice.on(pauseReason == null ? probeReason : pauseReason);
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
