package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.statistics.StatisticsSettings.Writing;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// MariaDB refuses these events, because their id is longer than its column.
class RefusedEventsIT {
  private static final AppId SHOP = new AppId("refused-events-it");
  private static final Duration SOON = Duration.ofSeconds(30);
  private static final Duration PATIENCE = Duration.ofMinutes(5);
  private static final int TRIES = 3;

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private RealServers servers;
  private StatisticsIntake intake;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
    servers.sql().update("DELETE FROM uplinks WHERE app_id = ?", SHOP.value());
    intake = intake();
  }

  @AfterEach
  void close() {
    intake.close();
    servers.close();
  }

  @Test
  void two_refused_events_are_buried_in_one_letter_without_their_neighbours() throws Exception {
    AtomicInteger rounds = new AtomicInteger();
    QueueConsumer consumer =
        consumer(body -> {
          rounds.incrementAndGet();
          clock.advance(Duration.ofMinutes(2));
          return intake.take(body);
        });
    publish(message(good(1), bad(2), good(3), bad(4), good(5)));

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isPositive());
    consumer.stop();
    assertThat(rounds).hasValue(4);
    assertThat(depth(Topology.EVENTS)).isZero();
    assertThat(written()).containsExactly(good(1).id(), good(3).id(), good(5).id());
    GetResponse letter = letter();
    assertThat(letter.getProps().getHeaders().get(Topology.DEAD_QUEUE_HEADER))
        .hasToString(Topology.EVENTS);
    assertThat(letter.getProps().getHeaders().get(Topology.DEAD_REASON_HEADER).toString())
        .contains("refused", "Data too long for column 'event_id'");
    assertThat(WireForm.readBatch(letter.getBody(), DeliveryEvent.Uplink.class))
        .extracting(DeliveryEvent.Uplink::id)
        .containsExactly(bad(2).id(), bad(4).id());
    assertThat(depth(Topology.DEAD)).isZero();
    assertThat(meters.get("pushplanet.dead.letters").counter().count()).isOne();
  }

  @Test
  void an_unreadable_event_is_buried_alone_and_its_neighbours_are_written() {
    byte[] unreadable = "{\"event\":\"of_tomorrow\"}".getBytes(StandardCharsets.UTF_8);
    byte[] body =
        WireForm.join(List.of(WireForm.write(good(1)), unreadable, WireForm.write(good(2))));

    assertThat(intake.take(body))
        .extracting(item -> new String(item.batch(), StandardCharsets.UTF_8))
        .containsExactly("[{\"event\":\"of_tomorrow\"}]");

    assertThat(written()).containsExactly(good(1).id(), good(2).id());
  }

  @Test
  void neither_many_tries_nor_much_time_alone_buries_an_event() throws Exception {
    byte[] often = message(good(1), bad(2));
    byte[] slowly = message(good(3), bad(4));

    for (int tried = 0; tried < 3 * TRIES; tried++) {
      refuse(often);
    }
    refuse(slowly);
    clock.advance(PATIENCE);
    refuse(slowly);

    assertThat(depth(Topology.DEAD)).isZero();
    intake.take(often);
    assertThat(depth(Topology.DEAD)).isEqualTo(1);
  }

  @Test
  void a_message_whose_acknowledgement_was_lost_is_not_buried_again() throws Exception {
    byte[] body = message(bad(1), bad(2));
    bury(body);

    intake.take(body);

    assertThat(depth(Topology.DEAD)).isEqualTo(1);
  }

  @Test
  void a_replayed_letter_is_tried_again_and_comes_back_while_refused() throws Exception {
    bury(message(bad(1)));
    byte[] first = letter().getBody();

    bury(first);

    byte[] second = letter().getBody();
    bury(second);
    assertThat(servers.drain(Topology.DEAD, DeliveryEvent.Uplink.class))
        .extracting(DeliveryEvent.Uplink::id)
        .containsExactly(bad(1).id());
  }

  @Test
  void another_worker_or_the_same_started_again_begins_to_count_anew() throws Exception {
    byte[] body = message(bad(1));
    bury(body);

    try (StatisticsIntake restarted = intake()) {
      assertThatIllegalStateException().isThrownBy(() -> restarted.take(body));
    }

    assertThat(depth(Topology.DEAD)).isEqualTo(1);
  }

  /// Makes the event's last try, which buries it.
  private void bury(byte[] body) {
    for (int tried = 1; tried < TRIES; tried++) {
      refuse(body);
    }
    clock.advance(PATIENCE);
    intake.take(body);
  }

  private void refuse(byte[] body) {
    assertThatIllegalStateException()
        .isThrownBy(() -> intake.take(body))
        .withMessageContaining("the database refuses");
  }

  private static byte[] message(DeliveryEvent... events) {
    return WireForm.join(List.of(events).stream().map(WireForm::write).toList());
  }

  private DeliveryEvent.Uplink good(int number) {
    return uplink("11111111-0000-0000-0000-00000000000" + number);
  }

  private DeliveryEvent.Uplink bad(int number) {
    return uplink("11111111-0000-0000-0000-00000000000" + number + "-too-long");
  }

  private DeliveryEvent.Uplink uplink(String id) {
    return new DeliveryEvent.Uplink(
        SHOP, MutableClock.started().instant(), new DeviceId("d1"), id, new byte[] {0, 1, -1});
  }

  private List<String> written() {
    return servers
        .sql()
        .queryForList(
            "SELECT event_id FROM uplinks WHERE app_id = ? ORDER BY event_id",
            String.class,
            SHOP.value());
  }

  private StatisticsIntake intake() {
    return new StatisticsIntake(
        new StatisticsWriter(servers.database()),
        new RefusedEvents(
            new DeadLetters(servers.connections(), clock, meters), clock, TRIES, PATIENCE),
        new EarlyEvents(_ -> {}, clock, Duration.ZERO, meters),
        new Writing(2, Duration.ofMillis(5), 100, 64),
        meters);
  }

  private QueueConsumer consumer(Function<byte[], List<DeadItem>> taking) {
    return new QueueConsumer(
        servers.connections(),
        "test",
        List.of(new Subscription(Topology.EVENTS, 4, (body, again, _) -> taking.apply(body))),
        () -> false,
        new DeadLetters(servers.connections(), clock, meters),
        new Random(1),
        meters);
  }

  private void publish(byte[] body) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      channel.basicPublish("", Topology.EVENTS, MessageProperties.MINIMAL_PERSISTENT_BASIC, body);
      channel.waitForConfirmsOrDie(SOON.toMillis());
    }
  }

  private GetResponse letter() throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return channel.basicGet(Topology.DEAD, true);
    }
  }

  private long depth(String queue) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return channel.messageCount(queue);
    }
  }
}
