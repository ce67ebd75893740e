package io.pushplanet.gateway.token;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RouteStore;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/// Forgets tokens that a provider calls dead, and only those: the token must still be the device's, it must have been
/// registered before the time since which the provider calls it gone, and the [PurgeBreaker] must be closed. Thread-safe.
public final class Tokens {
  private static final Logger LOG = LoggerFactory.getLogger(Tokens.class);

  private final JdbcTemplate database;
  private final RouteStore routes;
  private final PurgeBreaker breaker;
  private final Clock clock;
  private final Counter forgotten;
  private final Counter spared;

  /// What became of a token.
  public enum Fate {
    FORGOTTEN("token forgotten"),
    /// Registered again since, or replaced by another.
    NEWER("token kept: registered again since"),
    /// Too many die at once: more likely our credential than their devices.
    SPARED("token kept: too many die at once, check the credential");

    private final String words;

    Fate(String words) {
      this.words = words;
    }

    /// For the delivery's timeline.
    public String words() {
      return words;
    }
  }

  public Tokens(
      DataSource database,
      RouteStore routes,
      PurgeBreaker breaker,
      Clock clock,
      MeterRegistry meters) {
    this.database = new JdbcTemplate(database);
    this.routes = routes;
    this.breaker = breaker;
    this.clock = clock;
    this.forgotten = meters.counter("pushplanet.tokens", "result", "forgotten");
    this.spared = meters.counter("pushplanet.tokens", "result", "spared");
  }

  /// A provider answered something else of a token of this app: the breaker counts it.
  public void alive(AppId app, Channel channel) {
    breaker.count(app, channel, false);
  }

  /// @throws org.springframework.dao.DataAccessException when the database is away: ask again with the same answer
  public Fate forget(
      AppId app, DeviceId device, Channel channel, String token, Instant goneSince, String reason) {
    if (breaker.count(app, channel, true)) {
      spared.increment();
      LOG.error(
          "event=purge_breaker_open app={} channel={} device={}", app, channel.word(), device);
      return Fate.SPARED;
    }
    int changed =
        database.update(
            """
            UPDATE channel_tokens SET dead_at = ?, dead_reason = ?
            WHERE app_id = ? AND device_id = ? AND channel = ? AND token = ? AND registered_at <= ? AND dead_at IS NULL
            """,
            Timestamp.from(clock.instant()),
            reason.length() > 64 ? reason.substring(0, 64) : reason,
            app.value(),
            device.value(),
            channel.word(),
            token,
            Timestamp.from(goneSince));
    if (changed == 0) {
      return Fate.NEWER;
    }
    forgotten.increment();
    LOG.info(
        "event=token_forgotten app={} device={} channel={} reason={}",
        app,
        device,
        channel.word(),
        reason);
    try {
      routes.forget(List.of(new DeviceKey(app, device)));
    } catch (DirectoryUnavailable e) {
      LOG.warn("event=route_not_forgotten app={} device={}", app, device);
    }
    return Fate.FORGOTTEN;
  }
}
