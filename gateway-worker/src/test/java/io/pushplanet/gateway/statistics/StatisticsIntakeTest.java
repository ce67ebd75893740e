package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.statistics.StatisticsSettings.Writing;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;

class StatisticsIntakeTest {
  private final MutableClock clock = MutableClock.started();
  private final MessageIds ids = new MessageIds(clock, new Random(7));

  @Test
  void a_writer_lives_on_after_an_error() {
    AtomicInteger statements = new AtomicInteger();
    try (StatisticsIntake intake = intake(brokenDatabase(statements))) {
      for (int time = 1; time <= 2; time++) {
        var taken = CompletableFuture.runAsync(() -> intake.take(receipt()));

        assertThatThrownBy(() -> taken.get(20, TimeUnit.SECONDS))
            .cause()
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("the events were not written")
            .hasRootCauseInstanceOf(LinkageError.class);
        assertThat(statements).hasValue(time);
      }
    }
  }

  private StatisticsIntake intake(DataSource database) {
    return new StatisticsIntake(
        new StatisticsWriter(database),
        new RefusedEvents(
            new DeadLetters(new ConnectionFactory(), clock, new SimpleMeterRegistry()),
            clock,
            10,
            Duration.ofMinutes(5)),
        new EarlyEvents(_ -> {}, clock, Duration.ZERO, new SimpleMeterRegistry()),
        new Writing(1, Duration.ofMillis(5), 100, 64),
        new SimpleMeterRegistry());
  }

  private byte[] receipt() {
    return WireForm.join(
        List.of(
            WireForm.write(
                new DeliveryEvent.Receipt(
                    new AppId("shop"),
                    clock.instant(),
                    ids.next(),
                    new DeviceId("d1"),
                    DeliveryEvent.Receipt.Kind.OPENED))));
  }

  /// Its connections take part in transactions, but end each statement with an Error, as a driver
  /// does that lacks a class.
  private static DataSource brokenDatabase(AtomicInteger statements) {
    Connection connection =
        (Connection)
            Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (_, method, _) -> {
                  if (method.getName().equals("prepareStatement")) {
                    statements.incrementAndGet();
                    throw new NoClassDefFoundError("com/mysql/cj/Query");
                  }
                  Class<?> answer = method.getReturnType();
                  return answer == boolean.class ? (Object) false : answer == int.class ? 0 : null;
                });
    return new AbstractDataSource() {
      @Override
      public Connection getConnection() {
        return connection;
      }

      @Override
      public Connection getConnection(String user, String password) {
        return connection;
      }
    };
  }
}
