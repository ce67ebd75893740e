package io.pushplanet.common.message;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/// Fields that the caller sets in a vendor's own form, merged over the fields that we make of the
/// content.
///
/// @param apns merged into `aps`
/// @param fcm merged into FCM's `message`
/// @param webpush merged into the JSON that the service worker gets
/// @param hms merged into Push Kit's `message`
/// @param liveActivity sent to APNs instead of a notification; no other channel can carry it
public record Overrides(
    @Nullable ObjectNode apns,
    @Nullable ObjectNode fcm,
    @Nullable ObjectNode webpush,
    @Nullable ObjectNode hms,
    @Nullable LiveActivity liveActivity) {
  public static final Overrides NONE = new Overrides(null, null, null, null);

  public Overrides(
      @Nullable ObjectNode apns,
      @Nullable ObjectNode fcm,
      @Nullable ObjectNode webpush,
      @Nullable ObjectNode hms) {
    this(apns, fcm, webpush, hms, null);
  }

  /// The overrides of a message that goes only to FCM.
  public Overrides ofFcmAlone() {
    return fcm == null ? NONE : new Overrides(null, fcm, null, null);
  }

  public Overrides with(LiveActivity activity) {
    return new Overrides(apns, fcm, webpush, hms, activity);
  }

  /// The same overrides with their Live Activity, if any, over a broadcast channel.
  public Overrides over(LiveActivity.BroadcastChannel channel) {
    return liveActivity == null ? this : with(liveActivity.over(channel));
  }
}
