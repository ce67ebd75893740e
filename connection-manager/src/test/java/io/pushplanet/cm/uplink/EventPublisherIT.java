package io.pushplanet.cm.uplink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.cumulative.CumulativeCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.services.LocalServices;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

class EventPublisherIT {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private final AtomicBoolean away = new AtomicBoolean(true);
  private final AtomicInteger errors = new AtomicInteger(1);

  @Test
  void an_error_of_a_retry_loses_no_event_and_ends_no_retries() throws Exception {
    AtomicInteger confirmed = new AtomicInteger();
    try (var publisher =
            new LanePublisher(
                broker(),
                "test",
                LanePublisher.Settings.DEFAULT,
                RandomGenerator.getDefault(),
                new SimpleMeterRegistry());
        var events =
            new EventPublisher(
                publisher,
                10,
                RandomGenerator.getDefault(),
                failingOnceAt("cm.uplink.events.retried"))) {
      assertThat(events.tell(uplink(), confirmed::incrementAndGet)).isTrue();
      away.set(false);

      Eventually.within(PATIENCE, () -> assertThat(confirmed).hasValue(1));
      assertThat(errors).hasValueLessThan(1);
    }
  }

  @Test
  void an_error_of_the_first_try_keeps_no_place() throws Exception {
    var failing = failingOnceAt("pushplanet.lane.items");
    try (var publisher =
            new LanePublisher(
                broker(),
                "test",
                LanePublisher.Settings.DEFAULT,
                RandomGenerator.getDefault(),
                failing);
        var events =
            new EventPublisher(
                publisher, 1, RandomGenerator.getDefault(), new SimpleMeterRegistry())) {
      assertThatThrownBy(() -> events.tell(uplink(), () -> {}))
          .isInstanceOf(NoClassDefFoundError.class);

      assertThat(events.tell(uplink(), () -> {})).isTrue();
    }
  }

  private static DeliveryEvent uplink() {
    return new DeliveryEvent.Uplink(
        new AppId("shop"),
        Instant.EPOCH,
        new DeviceId("d1"),
        UUID.randomUUID().toString(),
        new byte[] {1});
  }

  private ConnectionFactory broker() throws Exception {
    var factory =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            if (away.get()) {
              throw new IOException("away");
            }
            return super.newConnection(name);
          }
        };
    factory.setUri(LocalServices.forTests().amqp());
    factory.setAutomaticRecoveryEnabled(false);
    return factory;
  }

  /// The first count under this name throws an Error.
  private SimpleMeterRegistry failingOnceAt(String name) {
    return new SimpleMeterRegistry() {
      @Override
      protected Counter newCounter(Meter.Id id) {
        return new CumulativeCounter(id) {
          @Override
          public void increment(double amount) {
            if (id.getName().equals(name) && errors.getAndDecrement() > 0) {
              throw new NoClassDefFoundError("io/pushplanet/Gone");
            }
            super.increment(amount);
          }
        };
      }
    };
  }
}
