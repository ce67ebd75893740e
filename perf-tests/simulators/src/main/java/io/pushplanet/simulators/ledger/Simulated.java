package io.pushplanet.simulators.ledger;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Locale;

/// Which simulator an entry or a script is about.
public enum Simulated {
  APNS,
  APNS_SANDBOX,
  FCM,
  OAUTH,
  HMS,
  HMS_OAUTH,
  WEBPUSH;

  /// The name in JSON: lower case.
  @JsonValue
  public String wireName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /// Reads the name in JSON.
  public static Simulated of(String wireName) {
    for (Simulated provider : values()) {
      if (provider.wireName().equals(wireName)) {
        return provider;
      }
    }
    throw new IllegalArgumentException(
        "\""
            + wireName
            + "\" is no provider: use apns, apns_sandbox, fcm, oauth, hms, hms_oauth or webpush");
  }
}
