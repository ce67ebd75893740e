package io.pushplanet.gateway.alert;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.alert.Alerts.Kind;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.TransactionException;

/// Tells operators what any message may find out about a credential: once a day (UTC) and
/// credential, by whichever worker comes first. While the database is away it is tried once a
/// minute, and stops nothing. Thread-safe; telling blocks on the database, all other calls do not.
public final class DailyAlerts {
  private static final Logger LOG = LoggerFactory.getLogger(DailyAlerts.class);
  private static final long DAY_SECONDS = Duration.ofDays(1).toSeconds();
  private static final Duration AGAIN_AFTER = Duration.ofMinutes(1);
  private static final int MAX_REMEMBERED = 10_000;

  private final Alerts alerts;
  private final Clock clock;
  private final Cache<Subject, Instant> quietUntil =
      Caffeine.newBuilder().maximumSize(MAX_REMEMBERED).build();

  private record Subject(Kind kind, AppId app, String credential) {}

  public DailyAlerts(Alerts alerts, Clock clock) {
    this.alerts = alerts;
    this.clock = clock;
  }

  /// @param credential names it among those of the app, in ASCII
  /// @param subject what it is about, such as `apns/production`
  /// @param text for people: what has happened and what to do; never a secret
  public void tell(Kind kind, AppId app, String credential, String subject, String text) {
    Instant now = clock.instant();
    Subject about = new Subject(kind, app, credential);
    Instant quiet = quietUntil.getIfPresent(about);
    if (quiet != null && now.isBefore(quiet)) {
      return;
    }
    quietUntil.put(about, now.plus(AGAIN_AFTER));
    long day = now.getEpochSecond() / DAY_SECONDS;
    try {
      alerts.tell(kind, app, app + "/" + credential + "/" + day, subject, text);
      quietUntil.put(about, Instant.ofEpochSecond((day + 1) * DAY_SECONDS));
    } catch (DataAccessException | TransactionException e) {
      LOG.warn(
          "event=alert_not_told kind={} appId={} reason=\"{}\"", kind.word(), app, e.toString());
    }
  }
}
