package io.pushplanet.gateway.token;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.gateway.alert.Alerts;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/// Forgets tokens that a provider calls dead, and only those. The token must still be the device's
/// and must have been registered before the time since which the provider calls it gone, and the
/// [PurgeBreaker] must be closed. For answers that a wrong credential causes as well, the
/// credential must have proved itself first. Operators are told when tokens are kept for such a
/// reason. Thread-safe.
public final class DeadTokens {
  private static final Logger LOG = LoggerFactory.getLogger(DeadTokens.class);
  private static final int LONGEST_REASON = 64;

  private final JdbcTemplate database;
  private final RouteStore routes;
  private final PurgeBreaker breaker;
  private final Alerts alerts;
  private final Map<Told, Told> lastTold = new ConcurrentHashMap<>();
  private final Clock clock;
  private final Counter forgotten;
  private final Counter spared;

  /// What became of a token.
  public enum Fate {
    FORGOTTEN("token forgotten"),
    FORGOTTEN_BEFORE("token forgotten before"),
    /// Registered again since the time that the provider names.
    NEWER("token kept: registered again since"),
    /// Replaced since the message was addressed: by another token, or by the same token in another
    /// environment.
    REPLACED("the device has registered anew since"),
    /// Too many tokens die at once: more likely our credential is wrong.
    SPARED("token kept: too many die at once, check the credential"),
    /// Nothing was accepted with this credential yet.
    UNPROVEN("token kept: the credential has not proved itself yet, check its environment");

    private final String words;

    Fate(String words) {
      this.words = words;
    }

    /// For the delivery's timeline.
    public String words() {
      return words;
    }
  }

  /// A provider's answer that calls a token dead.
  ///
  /// @param since since when
  /// @param reason the provider's word
  /// @param doubtful whether a wrong credential causes it as well
  public record Death(Instant since, String reason, boolean doubtful) {}

  /// A caller's turn at the database, whose connections are few. It is for statements alone.
  public interface Turn {
    /// Waits for the turn.
    <T> T take(Supplier<T> work);
  }

  public DeadTokens(
      DataSource database,
      RouteStore routes,
      PurgeBreaker breaker,
      Alerts alerts,
      Clock clock,
      MeterRegistry meters) {
    this.database = new JdbcTemplate(database);
    this.routes = routes;
    this.breaker = breaker;
    this.alerts = alerts;
    this.clock = clock;
    this.forgotten = meters.counter("pushplanet.tokens", "result", "forgotten");
    this.spared = meters.counter("pushplanet.tokens", "result", "spared");
  }

  /// A provider refused a message for a reason other than its token: the breaker counts it. A
  /// message that was not sent or got no answer says nothing about a token.
  public void alive(AppId app, Channel channel) {
    breaker.count(app, channel, false);
  }

  /// A provider accepted a message with this credential.
  public void accepted(AppId app, Channel channel, String environment) {
    alive(app, channel);
    breaker.accepted(app, channel, environment);
  }

  /// An app has other credentials now, which have to prove themselves.
  public void credentialsChanged(AppId app) {
    breaker.credentialsChanged(app);
  }

  /// @param environment of the credential; empty for a provider that has only one
  /// @param token as it was when the message was addressed; one that was registered since, or for
  ///     another environment, is a different token
  /// @param turn for the database, but not for Redis
  /// @throws org.springframework.dao.DataAccessException when the database is away: ask again with
  ///     the same answer
  public Fate forget(
      AppId app,
      DeviceId device,
      Channel channel,
      String environment,
      Recipient.Registered token,
      Death death,
      Turn turn) {
    String reason = death.reason();
    boolean open = breaker.count(app, channel, true);
    boolean unproven = death.doubtful() && !breaker.believes(app, channel, environment);
    if (open || unproven) {
      spared.increment();
      LOG.debug(
          "event=token_spared appId={} channel={} deviceId={} reason={}",
          app,
          channel.word(),
          device,
          reason);
      if (open || breaker.manyUnproven(app, channel, environment)) {
        tell(app, channel, environment, reason, open, turn);
      }
      return open ? Fate.SPARED : Fate.UNPROVEN;
    }
    Fate fate = turn.take(() -> forget(app, device, channel, token, death));
    // Also when the row says something else: then the route with this token is out of date.
    forgetRoute(app, device);
    if (fate == Fate.FORGOTTEN) {
      forgotten.increment();
      LOG.info(
          "event=token_forgotten appId={} deviceId={} channel={} reason={}",
          app,
          device,
          channel.word(),
          reason);
    }
    return fate;
  }

  private Fate forget(
      AppId app, DeviceId device, Channel channel, Recipient.Registered token, Death death) {
    Instant since = death.since();
    int changed =
        database.update(
            """
            UPDATE channel_tokens SET dead_at = ?, dead_reason = ?
            WHERE app_id = ? AND device_id = ? AND channel = ? AND token = ? AND registered_at <= ? AND dead_at IS NULL
            """,
            Timestamp.from(clock.instant()),
            Attempt.shortened(death.reason(), LONGEST_REASON),
            app.value(),
            device.value(),
            channel.word(),
            token.text(),
            Timestamp.from(since.isBefore(token.registeredAt()) ? since : token.registeredAt()));
    return changed == 0 ? before(app, device, channel, token) : Fate.FORGOTTEN;
  }

  /// Why there was nothing to forget.
  private Fate before(AppId app, DeviceId device, Channel channel, Recipient.Registered token) {
    List<Fate> found =
        database.query(
            """
            SELECT registered_at > ? AS later FROM channel_tokens
            WHERE app_id = ? AND device_id = ? AND channel = ? AND dead_at IS NULL
            """,
            (row, _) -> row.getBoolean("later") ? Fate.REPLACED : Fate.NEWER,
            Timestamp.from(token.registeredAt()),
            app.value(),
            device.value(),
            channel.word());
    return found.isEmpty() ? Fate.FORGOTTEN_BEFORE : found.getFirst();
  }

  private void forgetRoute(AppId app, DeviceId device) {
    try {
      routes.forget(List.of(new DeviceKey(app, device)));
    } catch (RedisUnavailable e) {
      LOG.warn("event=route_not_forgotten appId={} deviceId={}", app, device);
    }
  }

  /// Once an hour is enough for the same alert.
  private void tell(
      AppId app,
      Channel channel,
      String environment,
      String reason,
      boolean breakerIsOpen,
      Turn turn) {
    long hour = clock.instant().getEpochSecond() / 3_600;
    Told told = new Told(app, channel, environment, hour);
    Told every = new Told(app, channel, environment, 0);
    if (told.equals(lastTold.get(every))) {
      return;
    }
    LOG.error(
        "event={} appId={} channel={} environment={} reason={} action=\"check the credentials of this app\"",
        breakerIsOpen ? "purge_breaker_open" : "credential_unproven",
        app,
        channel.word(),
        environment,
        reason);
    turn.take(() ->
        alerts.tell(
            Alerts.Kind.TOKENS_KEPT,
            app,
            app + "/" + channel.word() + "/" + environment + "/" + hour,
            channel.word() + (environment.isEmpty() ? "" : "/" + environment),
            "So many tokens look dead ("
                + reason
                + ") that none is forgotten. Are the keys of sandbox and production, or of two projects, swapped?"
                + " Check the credentials of this app."));
    lastTold.put(every, told);
  }

  private record Told(AppId app, Channel channel, String environment, long hour) {}
}
