package io.pushplanet.common.device;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.List;

/// Makes and checks the password with which a device logs in over MQTT: `v1.<expiry, epoch
/// seconds>.<HMAC-SHA256>`.
///
/// It is verified without a database. Thread-safe.
public final class DeviceCredential {
  private static final String VERSION = "v1";

  private static final int LONGEST_EXPIRY = 12;

  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  /// The first one signs; the others check passwords of former master keys.
  private final List<MasterKey.Signer> signers;

  private final Clock clock;

  public DeviceCredential(MasterKey masterKey, Clock clock) {
    this.signers =
        masterKey.currentAndFormer().stream().map(key -> key.signer("device-credential")).toList();
    this.clock = clock;
  }

  /// The result of a login's check.
  public sealed interface Verdict {
    /// @param ends in this second of the epoch
    record Valid(long ends) implements Verdict {}

    /// Signed by us for this device, but expired: the device registers again and gets a new
    /// password.
    record Expired() implements Verdict {}

    record Invalid() implements Verdict {}
  }

  /// The second of the epoch in which a password given at that moment ends.
  public static long end(Instant given, Duration validity) {
    return given.plus(validity).getEpochSecond();
  }

  public String mint(AppId app, DeviceId device, Duration validity) {
    return mint(app, device, end(clock.instant(), validity));
  }

  /// @param ends in this second of the epoch
  public String mint(AppId app, DeviceId device, long ends) {
    byte[] signature = signature(signers.getFirst(), app, device, ends);
    return VERSION + "." + ends + "." + new String(signature, StandardCharsets.US_ASCII);
  }

  public Verdict verify(AppId app, DeviceId device, String password) {
    int first = VERSION.length();
    int second = password.indexOf('.', first + 1);
    if (!password.startsWith(VERSION + ".") || !isNumber(password, first + 1, second)) {
      return new Verdict.Invalid();
    }
    long expiry = Long.parseLong(password, first + 1, second, 10);
    byte[] shown = password.substring(second + 1).getBytes(StandardCharsets.UTF_8);
    for (MasterKey.Signer signer : signers) {
      if (MessageDigest.isEqual(signature(signer, app, device, expiry), shown)) {
        return clock.instant().isBefore(Instant.ofEpochSecond(expiry))
            ? new Verdict.Valid(expiry)
            : new Verdict.Expired();
      }
    }
    return new Verdict.Invalid();
  }

  private static boolean isNumber(String text, int from, int to) {
    if (to <= from || to - from > LONGEST_EXPIRY) {
      return false;
    }
    for (int index = from; index < to; index++) {
      if (text.charAt(index) < '0' || text.charAt(index) > '9') {
        return false;
      }
    }
    return true;
  }

  /// In base64.
  private static byte[] signature(
      MasterKey.Signer signer, AppId app, DeviceId device, long expiry) {
    byte[] signed =
        (app.value() + "\0" + device.value() + "\0" + expiry).getBytes(StandardCharsets.UTF_8);
    return BASE64.encode(signer.sign(signed));
  }
}
