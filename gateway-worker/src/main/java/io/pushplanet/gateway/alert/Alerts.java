package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.message.AppId;
import java.sql.Timestamp;
import java.time.Clock;
import java.util.Locale;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// The table `alerts`: the dashboard shows it, [AlertWebhook] sends it on. An alert has a key, and a key is told once, by
/// whichever worker comes first. In a transaction of the caller's it is told with it. Thread-safe.
public final class Alerts {
  private static final int LONGEST_KEY = 190;
  private static final int LONGEST_TEXT = 1_000;

  private final JdbcTemplate database;
  private final boolean webhook;
  private final Clock clock;
  private final MeterRegistry meters;

  /// What it is about.
  public enum Kind {
    CREDENTIAL_PAUSED,
    CREDENTIAL_RESUMED,
    CREDENTIAL_EXPIRES,
    /// Tokens look dead in such numbers that they are kept.
    TOKENS_KEPT;

    /// `credential_paused`
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// @param webhook whether somebody wants them by webhook
  public Alerts(DataSource database, boolean webhook, Clock clock, MeterRegistry meters) {
    this.database = new JdbcTemplate(database);
    this.webhook = webhook;
    this.clock = clock;
    this.meters = meters;
  }

  /// @param key what makes it told once; ASCII
  /// @param subject what it is about, such as `apns/production`
  /// @param text what has happened and what to do, for people; never a secret
  /// @return whether it was told now and not before
  /// @throws org.springframework.dao.DataAccessException when the database is away
  public boolean tell(Kind kind, AppId app, String key, String subject, String text) {
    Timestamp now = Timestamp.from(clock.instant());
    int told =
        database.update(
            """
            INSERT IGNORE INTO alerts (alert_key, kind, app_id, subject, text, at, send_at) VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            cut(kind.word() + "/" + key, LONGEST_KEY),
            kind.word(),
            app.value(),
            cut(subject, LONGEST_KEY),
            cut(text, LONGEST_TEXT),
            now,
            webhook ? now : null);
    if (told > 0) {
      meters.counter("pushplanet.alerts", "kind", kind.word()).increment();
    }
    return told > 0;
  }

  private static String cut(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most);
  }
}
