package io.pushplanet.common.device;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;

/// Makes and checks the password with which a device logs in over MQTT: `v1.<expiry, epoch seconds>.<HMAC-SHA256>`.
///
/// It is verified without a database. Thread-safe.
public final class DeviceCredential {
  private static final String VERSION = "v1";

  private final MasterKey masterKey;
  private final Clock clock;

  public DeviceCredential(MasterKey masterKey, Clock clock) {
    this.masterKey = masterKey;
    this.clock = clock;
  }

  /// What became of a login.
  public enum Verdict {
    VALID,
    /// Signed by us for this device, but too old: the device registers again and gets a new one.
    EXPIRED,
    INVALID
  }

  public String mint(AppId app, DeviceId device, Duration validity) {
    long expiry = clock.instant().plus(validity).getEpochSecond();
    return VERSION + "." + expiry + "." + signature(app, device, expiry);
  }

  public Verdict verify(AppId app, DeviceId device, String password) {
    String[] parts = password.split("\\.", -1);
    if (parts.length != 3 || !parts[0].equals(VERSION) || !parts[1].matches("[0-9]{1,12}")) {
      return Verdict.INVALID;
    }
    long expiry = Long.parseLong(parts[1]);
    byte[] expected = signature(app, device, expiry).getBytes(StandardCharsets.US_ASCII);
    if (!MessageDigest.isEqual(expected, parts[2].getBytes(StandardCharsets.UTF_8))) {
      return Verdict.INVALID;
    }
    return clock.instant().isBefore(Instant.ofEpochSecond(expiry))
        ? Verdict.VALID
        : Verdict.EXPIRED;
  }

  private String signature(AppId app, DeviceId device, long expiry) {
    byte[] signed =
        (app.value() + "\0" + device.value() + "\0" + expiry).getBytes(StandardCharsets.UTF_8);
    return Base64.getUrlEncoder()
        .withoutPadding()
        .encodeToString(masterKey.sign("device-credential", signed));
  }
}
