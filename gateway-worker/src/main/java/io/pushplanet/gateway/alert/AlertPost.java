package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import java.io.IOException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/// Sends alerts by one channel until the other side has accepted them. One worker has each alert at
/// a time; if it dies, another one continues, so that an alert may arrive twice. Thread-safe.
final class AlertPost {
  private static final Logger LOG = LoggerFactory.getLogger(AlertPost.class);
  private static final int MAX_AT_ONCE = 20;
  private static final int LONGEST_PROBLEM = 190;
  private static final Duration FIRST_PAUSE = Duration.ofSeconds(5);
  private static final Duration LONGEST_PAUSE = Duration.ofMinutes(30);

  private final JdbcTemplate database;
  private final AlertChannel channel;
  private final AlertChannel.Name name;
  private final AlertSettings settings;
  private final Clock clock;
  private final RandomGenerator random;
  private final MeterRegistry meters;

  private record Due(Alert alert, Timestamp dueAt, int tries) {}

  AlertPost(
      DataSource database,
      AlertChannel channel,
      AlertSettings settings,
      Clock clock,
      RandomGenerator random,
      MeterRegistry meters) {
    this.database = new JdbcTemplate(database);
    this.channel = channel;
    this.name = channel.name();
    this.settings = settings;
    this.clock = clock;
    this.random = random;
    this.meters = meters;
  }

  /// @return whether there may be more to send at once
  boolean round() {
    Instant now = clock.instant();
    List<Due> all =
        database.query(
            """
            SELECT id, kind, app_id, subject, text, at, %1$s, %2$s FROM alerts
            WHERE %1$s <= ? ORDER BY %1$s LIMIT ?
            """
                .formatted(name.due, name.tries),
            (row, _) ->
                new Due(
                    new Alert(
                        row.getLong("id"),
                        row.getString("kind"),
                        row.getString("app_id"),
                        row.getString("subject"),
                        row.getString("text"),
                        row.getTimestamp("at").toInstant()),
                    row.getTimestamp(name.due),
                    row.getInt(name.tries)),
            Timestamp.from(now),
            MAX_AT_ONCE);
    for (Due due : all) {
      if (isMine(due)) {
        send(due);
      }
    }
    return all.size() == MAX_AT_ONCE;
  }

  /// The worker that moves the time first has the alert, for as long as a request may take.
  private boolean isMine(Due due) {
    Instant claim = clock.instant().plus(settings.requestTimeout().multipliedBy(2));
    return database.update(
            "UPDATE alerts SET %1$s = ?, %2$s = %2$s + 1 WHERE id = ? AND %1$s = ?"
                .formatted(name.due, name.tries),
            Timestamp.from(claim),
            due.alert().id(),
            due.dueAt())
        > 0;
  }

  private void send(Due due) {
    try {
      channel.send(due.alert());
      database.update(
          "UPDATE alerts SET %s = NULL, %s = ?, %s = NULL WHERE id = ?"
              .formatted(name.due, name.done, name.problem),
          Timestamp.from(clock.instant()),
          due.alert().id());
      count("sent");
    } catch (IOException e) {
      failed(due, e.toString());
    }
  }

  private void failed(Due due, String problem) {
    Instant next = clock.instant().plus(pause(due.tries()));
    boolean givenUp = next.isAfter(due.alert().at().plus(settings.giveUpAfter()));
    LOG.warn(
        "event=alert_not_sent way={} alertId={} tries={} givenUp={} reason=\"{}\"",
        word(),
        due.alert().id(),
        due.tries() + 1,
        givenUp,
        problem.replaceAll("\\s+", " "));
    database.update(
        "UPDATE alerts SET %s = ?, %s = ? WHERE id = ?".formatted(name.due, name.problem),
        givenUp ? null : Timestamp.from(next),
        Attempt.shortened(problem, LONGEST_PROBLEM),
        due.alert().id());
    count(givenUp ? "given_up" : "failed");
  }

  private Duration pause(int tries) {
    Duration pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries, 20));
    Duration bounded = pause.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : pause;
    return bounded.plusMillis(random.nextLong(1 + bounded.toMillis() / 4));
  }

  private void count(String result) {
    meters.counter("pushplanet.alerts.posted", "way", word(), "result", result).increment();
  }

  private String word() {
    return name.name().toLowerCase(Locale.ROOT);
  }
}
