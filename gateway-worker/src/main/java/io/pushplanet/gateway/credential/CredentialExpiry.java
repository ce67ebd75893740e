package io.pushplanet.gateway.credential;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.alert.Alerts;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.RowMapper;

/// Tells operators of credentials that end soon, once at each of the days set and once after the
/// end, and shows the days left and the pauses as metrics. Only .p12 certificates have an end; keys
/// of Apple's, Google's and ours have none. Confined to one thread.
final class CredentialExpiry {
  /// The most series of a metric: more would not help an operator.
  private static final int MAX_SHOWN = 1_000;

  /// The most alerts per step and round; the others follow in the next round.
  private static final int MAX_TOLD = 1_000;

  /// Before the end of any certificate.
  private static final Instant LONG_AGO = Instant.EPOCH;

  private static final double SECONDS_OF_A_DAY = Duration.ofDays(1).toSeconds();

  private final JdbcTemplate database;
  private final Alerts alerts;
  private final List<Integer> days;
  private final Clock clock;
  private final MeterRegistry meters;
  private final Map<Place, Shown> daysLeft = new HashMap<>();
  private final Map<Place, Shown> paused = new HashMap<>();

  /// The labels of a metric's series.
  private record Place(String app, String provider, String environment) {}

  private record Ending(long id, Place place, Instant expiresAt) {}

  private static final RowMapper<Ending> ENDING =
      (row, _) ->
          new Ending(row.getLong("id"), place(row), row.getTimestamp("expires_at").toInstant());

  /// A series that can be removed again.
  private static final class Shown {
    volatile double value;
    @Nullable Meter meter;
  }

  /// @param days before the end, in any order
  CredentialExpiry(
      DataSource source, Alerts alerts, List<Integer> days, Clock clock, MeterRegistry meters) {
    this.database = new JdbcTemplate(source);
    this.alerts = alerts;
    this.days = Stream.concat(Stream.of(0), days.stream()).distinct().sorted().toList();
    this.clock = clock;
    this.meters = meters;
  }

  /// @return false: there is nothing more to do at once
  boolean round() {
    Instant now = clock.instant();
    Map<Place, Double> left = new HashMap<>();
    for (Ending one : shown(now)) {
      left.merge(one.place(), daysLeft(one, now), Math::min);
    }
    show(daysLeft, left, this::daysLeftMeter);
    show(paused, paused(), this::pausedMeter);
    Instant after = LONG_AGO;
    for (int day : days) {
      Instant until = now.plus(Duration.ofDays(day));
      for (Ending one : untold(after, until, day)) {
        tell(one, day);
      }
      after = until;
    }
    return false;
  }

  private void show(
      Map<Place, Shown> shown,
      Map<Place, Double> values,
      BiFunction<Place, Shown, Meter> register) {
    shown
        .entrySet()
        .removeIf(entry -> {
          Meter meter = entry.getValue().meter;
          boolean over = !values.containsKey(entry.getKey());
          if (over && meter != null) {
            meters.remove(meter);
          }
          return over;
        });
    values.forEach((place, value) -> {
      Shown series = shown.computeIfAbsent(place, _ -> new Shown());
      series.value = value;
      if (series.meter == null) {
        series.meter = register.apply(place, series);
      }
    });
  }

  private Meter daysLeftMeter(Place place, Shown shown) {
    return Gauge.builder("pushplanet.credential.days.left", shown, it -> it.value)
        .description("days until an active credential expires; only for credentials that expire")
        .tag("app", place.app())
        .tag("provider", place.provider())
        .tag("environment", place.environment())
        .register(meters);
  }

  private Meter pausedMeter(Place place, Shown shown) {
    return Gauge.builder("pushplanet.credential.paused", shown, it -> it.value)
        .description("1 for each credential that its provider refuses")
        .tag("app", place.app())
        .tag("provider", place.provider())
        .tag("environment", place.environment())
        .register(meters);
  }

  private static double daysLeft(Ending one, Instant now) {
    return ChronoUnit.SECONDS.between(now, one.expiresAt()) / SECONDS_OF_A_DAY;
  }

  private void tell(Ending one, int day) {
    alerts.tell(
        Alerts.Kind.CREDENTIAL_EXPIRES,
        new AppId(one.place().app()),
        one.id() + "/" + day,
        one.place().provider() + "/" + one.place().environment(),
        day == 0
            ? "This certificate has ended on " + one.expiresAt() + ". Upload another one."
            : "This certificate ends on "
                + one.expiresAt()
                + ", within "
                + (day == 1 ? "a day" : day + " days")
                + ". Upload another one, or better a .p8 key, which does not end.");
  }

  /// The certificates of which only the nearest day is to be told: a certificate that is uploaded
  /// with five days left makes one alert, not three.
  ///
  /// @param after from this end on; earlier ends belong to another day
  private List<Ending> untold(Instant after, Instant until, int day) {
    return database.query(
        """
        SELECT id, app_id, provider, environment, expires_at FROM credentials
        WHERE expires_at > ? AND expires_at <= ? AND state = 'active' AND NOT EXISTS (
          SELECT 1 FROM alerts
          WHERE alert_key = CONVERT(CONCAT(?, credentials.id, ?) USING ascii) COLLATE ascii_bin)
        ORDER BY expires_at LIMIT ?
        """,
        ENDING,
        Timestamp.from(after),
        Timestamp.from(until),
        Alerts.Kind.CREDENTIAL_EXPIRES.word() + "/",
        "/" + day,
        MAX_TOLD);
  }

  /// The certificates that end next, and as many of those that ended last as there is room for.
  private List<Ending> shown(Instant now) {
    List<Ending> shown =
        new ArrayList<>(
            database.query(
                """
                SELECT id, app_id, provider, environment, expires_at FROM credentials
                WHERE expires_at > ? AND state = 'active' ORDER BY expires_at LIMIT ?
                """,
                ENDING,
                Timestamp.from(now),
                MAX_SHOWN));
    shown.addAll(
        database.query(
            """
            SELECT id, app_id, provider, environment, expires_at FROM credentials
            WHERE expires_at <= ? AND state = 'active' ORDER BY expires_at DESC LIMIT ?
            """,
            ENDING,
            Timestamp.from(now),
            MAX_SHOWN - shown.size()));
    return shown;
  }

  private Map<Place, Double> paused() {
    return database
        .query(
            """
            SELECT app_id, provider, environment FROM credentials
            WHERE paused_at IS NOT NULL AND state = 'active' ORDER BY paused_at LIMIT ?
            """,
            (row, _) -> place(row),
            MAX_SHOWN)
        .stream()
        .distinct()
        .collect(Collectors.toMap(Function.identity(), _ -> 1.0));
  }

  private static Place place(ResultSet row) throws SQLException {
    return new Place(
        row.getString("app_id"), row.getString("provider"), row.getString("environment"));
  }
}
