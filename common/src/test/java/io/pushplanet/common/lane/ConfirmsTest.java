package io.pushplanet.common.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.Eventually;
import java.io.IOException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ConfirmsTest {
  private static final Duration SOON = Duration.ofSeconds(10);

  private final LanePublisher away =
      new LanePublisher(
          new ConnectionFactory() {
            @Override
            public Connection newConnection(String name) throws IOException {
              throw new IOException("the broker is away");
            }
          },
          "test",
          LanePublisher.Settings.DEFAULT,
          RandomGenerator.getDefault(),
          new SimpleMeterRegistry());

  private final Confirms confirms = new Confirms(away);

  @AfterEach
  void close() {
    away.close();
  }

  @Test
  void nothing_is_awaited_for_no_items() {
    confirms.await();

    assertThat(confirms.hasFailed()).isFalse();
  }

  @Test
  void the_wait_ends_with_the_last_items_result() throws Exception {
    LanePublisher.Confirmation first = confirms.oneMore(1);
    LanePublisher.Confirmation second = confirms.oneMore(1);
    Thread waiting = Thread.ofVirtual().start(confirms::await);

    first.confirmed();
    Eventually.within(SOON, () -> assertThat(waiting.getState()).isEqualTo(Thread.State.WAITING));
    second.confirmed();

    assertThat(waiting.join(SOON)).isTrue();
    assertThat(confirms.hasFailed()).isFalse();
  }

  @Test
  void one_failed_item_fails_all_with_the_first_reason() {
    var why = new BrokerUnavailable("the lane is full", null);
    confirms.oneMore(1).confirmed();
    confirms.oneMore(1).failed(why);
    confirms.oneMore(1).failed(new BrokerUnavailable("later", null));

    assertThat(confirms.hasFailed()).isTrue();
    assertThatThrownBy(confirms::await)
        .isInstanceOf(BrokerUnavailable.class)
        .hasMessage("the lane is full")
        .hasCause(why);
  }

  @Test
  void an_item_that_the_lane_refuses_fails() {
    confirms.publish("push.events", new byte[] {'1'});

    assertThat(confirms.hasFailed()).isTrue();
    assertThatThrownBy(confirms::await).hasMessage("the message broker is away");
  }

  @Test
  void an_interrupted_wait_fails_and_stays_interrupted() {
    confirms.oneMore(1);
    Thread.currentThread().interrupt();

    assertThatThrownBy(confirms::await).isInstanceOf(BrokerUnavailable.class);

    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void an_item_gives_its_share_of_the_budget_back_with_its_result() {
    var budget = new InFlightBudget(2, 2);
    var budgeted = new Confirms(away, budget);

    budgeted.oneMore(1).confirmed();
    budgeted.oneMore(1).failed(new BrokerUnavailable("no", null));
    budgeted.publish("push.events", new byte[] {'1'});

    assertThat(budget.acquire(1)).isEqualTo(2);
  }
}
