package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.lane.BriefConnection;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.DeadItem;
import java.time.Clock;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Date;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class DeadLettersIT extends IntakeScene {
  private static final String UNTIL_ALARM =
      "(fun Wait() -> case rabbit_alarm:get_alarms() of [] -> timer:sleep(50), Wait(); _ -> ok end end)().";

  /// Larger than the buffers of two kernels on the way to a broker that does not read.
  private static final byte[] LARGE = new byte[8 * 1024 * 1024];

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  @Test
  void a_broker_that_takes_no_messages_is_not_waited_for() throws Exception {
    assumeTrue(servers.services().isRabbitMq(), "the embedded broker blocks nobody");
    DeadLetters letters = new DeadLetters(servers.connections(), Clock.systemUTC(), meters);
    letters.bury(QUEUE, List.of(new DeadItem(new byte[1], "before")));
    servers.services().rabbitmqctl("set_vm_memory_high_watermark", "0");
    try {
      servers.services().rabbitmqctl("eval", UNTIL_ALARM);

      for (byte[] body : List.of(new byte[1], LARGE)) {
        assertThatThrownBy(() -> burySoon(letters, body))
            .isInstanceOf(ExecutionException.class)
            .hasCauseInstanceOf(BrokerUnavailable.class);
      }
    } finally {
      servers.services().rabbitmqctl("set_vm_memory_high_watermark", "0.4");
    }

    Eventually.within(SOON, () -> burySoon(letters, new byte[] {2}));
    assertThat(depth(Topology.DEAD)).isGreaterThanOrEqualTo(2);
  }

  @Test
  void a_letter_tells_when_it_was_buried_and_is_counted() throws Exception {
    MutableClock clock = MutableClock.started();
    DeadLetters letters = new DeadLetters(servers.connections(), clock, meters);

    letters.bury(QUEUE, List.of(new DeadItem(new byte[] {1}, "broken")));

    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      GetResponse letter = channel.basicGet(Topology.DEAD, true);
      assertThat(letter.getProps().getTimestamp())
          .isEqualTo(Date.from(clock.instant().truncatedTo(ChronoUnit.SECONDS)));
    }
    assertThat(meters.get("pushplanet.dead.letters").tag("queue", QUEUE).counter().count()).isOne();
  }

  /// Whether the broker answers or not.
  @Test
  void a_connection_that_is_open_for_too_long_is_broken_off() throws Exception {
    try (BriefConnection connection =
        BriefConnection.open(servers.connections(), "test", Duration.ofMillis(200))) {
      Eventually.within(SOON, () -> assertThat(connection.isOpen()).isFalse());

      assertThat(connection.takesNothing()).isFalse();
    }
  }

  private static void burySoon(DeadLetters letters, byte[] body) throws Exception {
    FutureTask<Boolean> buried =
        new FutureTask<>(() -> letters.bury(QUEUE, List.of(new DeadItem(body, "broken"))), true);
    Thread.ofPlatform().daemon(true).start(buried);
    assertThat(buried.get(40, TimeUnit.SECONDS)).isTrue();
  }
}
