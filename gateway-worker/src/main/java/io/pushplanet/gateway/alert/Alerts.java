package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.message.AppId;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// The table `alerts`: the dashboard shows it, [AlertPost] sends it on. Each alert has a key, and a
/// key is told once, by the worker that comes first. In a caller's transaction, the alert is told
/// with that transaction. Thread-safe.
public final class Alerts {
  private static final int LONGEST_KEY = 190;
  private static final int LONGEST_TEXT = 1_000;
  private static final int MAX_TRIMMED_AT_ONCE = 1_000;

  private final JdbcTemplate database;
  private final Set<AlertChannel.Name> channels;
  private final Clock clock;
  private final MeterRegistry meters;

  /// What the alert is about.
  public enum Kind {
    CREDENTIAL_PAUSED,
    CREDENTIAL_RESUMED,
    CREDENTIAL_EXPIRES,
    /// Firebase's key for another service is refused; our own credential is good.
    CREDENTIAL_IN_FIREBASE,
    /// Tokens look dead in such numbers that they are kept.
    TOKENS_KEPT,
    /// A provider says that a device's token is not this app's or this project's.
    TOKENS_FOREIGN,
    /// Apple has seen too many provider tokens of a team.
    PROVIDER_TOKENS_TOO_MANY;

    /// `credential_paused`
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// Alerts that only the dashboard shows.
  public Alerts(DataSource database, Clock clock, MeterRegistry meters) {
    this(database, Set.of(), clock, meters);
  }

  /// @param channels by which they leave the platform
  Alerts(DataSource database, Set<AlertChannel.Name> channels, Clock clock, MeterRegistry meters) {
    this.database = new JdbcTemplate(database);
    this.channels = Set.copyOf(channels);
    this.clock = clock;
    this.meters = meters;
  }

  /// @param key an alert with the same key is told once; ASCII
  /// @param subject what it is about, such as `apns/production`
  /// @param text for people: what has happened and what to do; never a secret
  /// @return whether it was told now and not before
  /// @throws org.springframework.dao.DataAccessException when the database is away
  public boolean tell(Kind kind, AppId app, String key, String subject, String text) {
    Timestamp now = Timestamp.from(clock.instant());
    int told =
        database.update(
            """
            INSERT IGNORE INTO alerts (alert_key, kind, app_id, subject, text, at, send_at, mail_at)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """,
            Attempt.shortened(kind.word() + "/" + key, LONGEST_KEY),
            kind.word(),
            app.value(),
            Attempt.shortened(subject, LONGEST_KEY),
            Attempt.shortened(text, LONGEST_TEXT),
            now,
            channels.contains(AlertChannel.Name.WEBHOOK) ? now : null,
            channels.contains(AlertChannel.Name.MAIL) ? now : null);
    if (told > 0) {
      meters.counter("pushplanet.alerts", "kind", kind.word()).increment();
    }
    return told > 0;
  }

  /// Deletes older alerts, except for those that would be told anew: that a certificate in use
  /// ends.
  ///
  /// @return whether there may be more to delete at once
  boolean trim(Duration retention) {
    int trimmed =
        database.update(
            """
            DELETE FROM alerts
            WHERE at < ? AND send_at IS NULL AND mail_at IS NULL AND NOT (kind = ? AND EXISTS (
              SELECT 1 FROM credentials
              WHERE credentials.state = 'active' AND credentials.id =
                CAST(SUBSTRING_INDEX(SUBSTRING_INDEX(alerts.alert_key, '/', 2), '/', -1) AS UNSIGNED)))
            ORDER BY at LIMIT ?
            """,
            Timestamp.from(clock.instant().minus(retention)),
            Kind.CREDENTIAL_EXPIRES.word(),
            MAX_TRIMMED_AT_ONCE);
    return trimmed == MAX_TRIMMED_AT_ONCE;
  }
}
