package io.pushplanet.gateway.token;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.token.DeadTokens.Fate;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/// Turns are few, and everything that is parked or put off waits for one. So Redis, which may take
/// seconds, is not asked during a turn.
class TurnsOfDeadTokensIT {
  private static final AppId APP = new AppId("turns-it");

  private final RealServers servers = RealServers.start();
  private final RedisClient redis = new WatchedRedis();
  private final Clock clock = Clock.systemUTC();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Turn turn = new Turn();

  /// Whether there was a turn each time that Redis, or MySQL, was asked.
  private final List<Boolean> atRedis = new ArrayList<>();

  private final List<Boolean> atMySql = new ArrayList<>();

  private static final class Turn implements DeadTokens.Turn {
    boolean taken;

    @Override
    public <T> T take(Supplier<T> work) {
      taken = true;
      try {
        return work.get();
      } finally {
        taken = false;
      }
    }
  }

  @AfterEach
  void close() {
    redis.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
  }

  @Test
  void a_token_is_forgotten_in_a_turn_and_redis_is_told_outside_of_it() {
    Instant registered = clock.instant().minusSeconds(60).truncatedTo(ChronoUnit.MILLIS);
    servers.register(APP.value(), "d1", "fcm", "token", "t1", registered);
    DeadTokens tokens = tokens(Duration.ZERO);

    assertThat(forget(tokens, registered)).isEqualTo(Fate.FORGOTTEN);
    assertThat(forget(tokens, registered)).isEqualTo(Fate.FORGOTTEN_BEFORE);

    assertThat(atRedis).hasSize(4).containsOnly(false);
    assertThat(atMySql).hasSize(3).containsOnly(true);
  }

  @Test
  void operators_are_told_in_a_turn_that_tokens_are_kept() {
    Fate fate = forget(tokens(Duration.ofMinutes(10)), clock.instant());

    assertThat(fate).isEqualTo(Fate.SPARED);
    assertThat(atRedis).hasSize(1).containsOnly(false);
    assertThat(atMySql).hasSize(1).containsOnly(true);
  }

  private Fate forget(DeadTokens tokens, Instant registered) {
    return tokens.forget(
        APP,
        new DeviceId("d1"),
        Channel.FCM,
        "",
        new Recipient.Registered("t1", registered),
        new DeadTokens.Death(clock.instant(), "UNREGISTERED", false),
        turn);
  }

  /// @param open how long the breaker stays open
  private DeadTokens tokens(Duration open) {
    PurgeBreaker breaker =
        new PurgeBreaker(
            clock,
            (_, _, _, _, _) -> {
              atRedis.add(turn.taken);
              return Optional.of(open);
            });
    DataSource database = watchedDatabase();
    return new DeadTokens(
        database,
        new RouteStore(RedisLink.open(redis)),
        breaker,
        new Alerts(database, clock, meters),
        clock,
        meters);
  }

  private DataSource watchedDatabase() {
    return new DelegatingDataSource(servers.database()) {
      @Override
      public Connection getConnection() throws SQLException {
        atMySql.add(turn.taken);
        return super.getConnection();
      }
    };
  }

  private final class WatchedRedis extends RedisClient {
    WatchedRedis() {
      super(null, RedisURI.create(servers.services().redis()));
    }

    @Override
    @SuppressWarnings("unchecked")
    public StatefulRedisConnection<String, String> connect() {
      StatefulRedisConnection<String, String> connection = super.connect();
      return (StatefulRedisConnection<String, String>)
          Proxy.newProxyInstance(
              getClass().getClassLoader(),
              new Class<?>[] {StatefulRedisConnection.class},
              (_, method, arguments) -> {
                if (method.getName().equals("async")) {
                  atRedis.add(turn.taken);
                }
                return method.invoke(connection, arguments);
              });
    }
  }
}
