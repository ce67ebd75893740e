package io.pushplanet.common.device;

import io.pushplanet.common.access.ExpiringToken;
import io.pushplanet.common.access.ExpiringToken.Verdict;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

/// Makes and checks the password with which a device logs in over MQTT: an [ExpiringToken] for the
/// device and its app. It is verified without a database. Thread-safe.
public final class DeviceCredential {
  private final ExpiringToken passwords;
  private final Clock clock;

  public DeviceCredential(MasterKey masterKey, Clock clock) {
    this.passwords = new ExpiringToken(masterKey, "device-credential", clock);
    this.clock = clock;
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
    return passwords.mint(subject(app, device), ends);
  }

  /// A device whose password has expired registers again and gets a new one.
  public Verdict verify(AppId app, DeviceId device, String password) {
    return passwords.verify(subject(app, device), password);
  }

  private static String subject(AppId app, DeviceId device) {
    return app.value() + "\0" + device.value();
  }
}
