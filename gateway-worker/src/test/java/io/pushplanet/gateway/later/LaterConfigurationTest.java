package io.pushplanet.gateway.later;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.lang.reflect.Proxy;
import java.net.ConnectException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;

class LaterConfigurationTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final Duration OFTEN = Duration.ofMillis(1);

  private final MutableClock clock = MutableClock.started();
  private final MeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void nothing_is_claimed_before_the_broker_takes_something() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    DataSource database = asked(asked);
    AtomicBoolean brokerIsThere = new AtomicBoolean();
    LaterConfiguration wiring = new LaterConfiguration();
    LaterSettings settings = new LaterSettings(OFTEN, OFTEN);
    CountDownLatch meanwhile = new CountDownLatch(20);
    try (LanePublisher lanes =
        new LanePublisher(
            new Broker(brokerIsThere),
            "test",
            LanePublisher.Settings.DEFAULT,
            RandomGenerator.getDefault(),
            meters)) {
      List<PeriodicTask> all =
          List.of(
              wiring.dueRows(database, lanes, settings, clock, meters),
              wiring.inboxSweeper(database, lanes, settings, clock, meters),
              wiring.broadcastSweeper(database, lanes, settings, clock, meters),
              new PeriodicTask(
                  "others",
                  OFTEN,
                  () -> {
                    meanwhile.countDown();
                    return false;
                  },
                  meters));

      all.forEach(PeriodicTask::start);

      assertThat(meanwhile.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(asked).hasValue(0);

      brokerIsThere.set(true);

      for (String name : List.of("due-lane", "inbox-sweeper", "broadcast-sweeper")) {
        // Its round fails at the database that it asks.
        Eventually.within(
            PATIENCE,
            () ->
                assertThat(meters.counter("pushplanet.rounds.failed", "name", name).count())
                    .isPositive());
      }
      all.forEach(PeriodicTask::stop);
    }
  }

  private static DataSource asked(AtomicInteger asked) {
    return new AbstractDataSource() {
      @Override
      public java.sql.Connection getConnection() throws SQLException {
        asked.incrementAndGet();
        throw new SQLException("nobody should ask");
      }

      @Override
      public java.sql.Connection getConnection(String user, String password) throws SQLException {
        return getConnection();
      }
    };
  }

  /// A broker that is away at first, and then takes every message.
  private static final class Broker extends ConnectionFactory {
    private final AtomicBoolean isThere;

    Broker(AtomicBoolean isThere) {
      this.isThere = isThere;
    }

    @Override
    public Connection newConnection(String name) throws ConnectException {
      if (!isThere.get()) {
        throw new ConnectException("nobody is there");
      }
      return silent(Connection.class);
    }

    private static <T> T silent(Class<T> type) {
      return type.cast(
          Proxy.newProxyInstance(
              type.getClassLoader(),
              new Class<?>[] {type},
              (_, method, _) -> {
                Class<?> returned = method.getReturnType();
                if (returned.isInterface()) {
                  return silent(returned);
                }
                return returned == boolean.class ? Boolean.TRUE : null;
              }));
    }
  }
}
