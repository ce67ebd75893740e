package io.pushplanet.gateway.fcm;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.alert.Alerts;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/// The platforms, iPhones and browsers, to which FCM passes an app's messages on with an APNs key
/// or a VAPID key that lies in the Firebase project. When such a key is refused, the app's devices
/// of this platform rest, and no others: our own credential is good. After [#REST] a message tries
/// again; operators are told once a day.
///
/// A single answer may be one device's fault, such as a browser's that subscribed with a former
/// key. So it takes [#FEWEST] refusals without an accepted message of that platform in between.
/// Each worker counts for itself. Thread-safe; telling blocks on the database.
final class RestingPlatforms {
  static final int FEWEST = 5;
  static final Duration REST = Duration.ofMinutes(5);

  private static final Logger LOG = LoggerFactory.getLogger(RestingPlatforms.class);
  private static final int MAX_APPS = 10_000;

  private final Alerts alerts;
  private final Clock clock;
  private final Cache<Service, Refusals> refusals =
      Caffeine.newBuilder().maximumSize(MAX_APPS).build();

  private record Service(AppId app, Platform platform) {}

  private record Refusals(int inARow, Instant restsUntil) {}

  RestingPlatforms(Alerts alerts, Clock clock) {
    this.alerts = alerts;
    this.clock = clock;
  }

  boolean rests(AppId app, Platform platform) {
    Refusals known = refusals.getIfPresent(new Service(app, platform));
    return known != null && known.restsUntil().isAfter(clock.instant());
  }

  void taken(AppId app, Platform platform) {
    refusals.invalidate(new Service(app, platform));
  }

  /// @param reason FCM's word
  /// @return whether the platform rests now
  boolean refused(AppId app, Platform platform, String reason) {
    Instant now = clock.instant();
    Refusals known =
        refusals
            .asMap()
            .compute(
                new Service(app, platform),
                (_, before) -> {
                  if (before != null && before.restsUntil().isAfter(now)) {
                    return before;
                  }
                  int inARow = before == null ? 1 : Math.min(FEWEST, before.inARow() + 1);
                  return new Refusals(inARow, inARow < FEWEST ? Instant.EPOCH : now.plus(REST));
                });
    boolean beginsToRest = known.restsUntil().equals(now.plus(REST));
    if (beginsToRest) {
      tell(app, platform, reason, now);
    }
    return known.restsUntil().isAfter(now);
  }

  private void tell(AppId app, Platform platform, String reason, Instant now) {
    String word = platform.name().toLowerCase(Locale.ROOT);
    LOG.error("event=fcm_other_service_refused appId={} platform={} reason={}", app, word, reason);
    try {
      alerts.tell(
          Alerts.Kind.CREDENTIAL_IN_FIREBASE,
          app,
          app + "/" + word + "/" + now.getEpochSecond() / Duration.ofDays(1).toSeconds(),
          "fcm/" + word,
          "Firebase cannot send to this app's "
              + (platform == Platform.IOS ? "iPhones" : "browsers")
              + ": "
              + reason
              + ". Upload "
              + (platform == Platform.IOS ? "its APNs key" : "its web push key pair")
              + " in the Firebase console (Project settings, Cloud Messaging). Their messages wait until their"
              + " time to live ends, and are tried again every five minutes; all others are sent.");
    } catch (DataAccessException | TransactionException e) {
      LOG.warn("event=alert_not_told appId={} reason=\"{}\"", app, e.toString());
    }
  }
}
