package io.pushplanet.dashboard.credential;

import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.List;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/// A credential that may be activated.
///
/// @param provider `apns`, `fcm`, `hms` or `webpush`
/// @param environments the environments that it is for: `production`, `sandbox`
/// @param kind `p8`, `p12`, `service_account`, `client_secret` or `vapid`
/// @param detail the part that pages may show
/// @param secret the part that is sealed
/// @param expiresAt null when it never expires
record CheckedCredential(
    String provider,
    List<String> environments,
    String kind,
    SequencedMap<String, String> detail,
    byte[] secret,
    @Nullable Instant expiresAt) {
  CheckedCredential {
    environments = List.copyOf(environments);
  }

  String detailJson() {
    return WireForm.mapper().writeValueAsString(detail);
  }

  @Override
  public String toString() {
    return "CheckedCredential[" + provider + ", " + kind + ", " + detail + "]";
  }
}
