package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.intake.BatchHandler;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.statistics.StatisticsSettings.Writing;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class EarlyEventsIT {
  private static final AppId SHOP = new AppId("early-events-it");
  private static final DeviceId HONEST = new DeviceId("honest");
  private static final DeviceId LIAR = new DeviceId("liar");
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final int MESSAGES = 100;

  private final MutableClock clock = MutableClock.started();
  private final MessageIds ids = new MessageIds(clock, new Random(7));
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AtomicBoolean brokerAway = new AtomicBoolean();
  private final AtomicInteger looks = new AtomicInteger();
  private final AtomicInteger earlyLooks = new AtomicInteger();
  private RealServers servers;
  private StatisticsIntake intake;
  private QueueConsumer consumer;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
    for (String table : List.of("messages", "deliveries", "statistics_minutes")) {
      servers.sql().update("DELETE FROM " + table + " WHERE app_id = ?", SHOP.value());
    }
    intake =
        new StatisticsIntake(
            new StatisticsWriter(servers.database()),
            new RefusedEvents(
                new DeadLetters(servers.connections(), clock, meters),
                clock,
                10,
                Duration.ofMinutes(5)),
            new EarlyEvents(this::publishEarly, clock, Duration.ofMillis(50), meters),
            new Writing(2, Duration.ofMillis(5), 100, 8),
            meters);
    consumer =
        new QueueConsumer(
            servers.connections(),
            "test",
            List.of(
                new Subscription(Topology.EVENTS, 8, counting(looks, intake::take)),
                new Subscription(Topology.EARLY, 4, counting(earlyLooks, intake::takeEarly))),
            () -> false,
            new DeadLetters(servers.connections(), clock, meters),
            new Random(1),
            meters);
  }

  @AfterEach
  void close() {
    consumer.stop();
    intake.close();
    servers.close();
  }

  @Test
  void made_up_receipts_hold_up_no_other_event() throws Exception {
    List<MessageId> messages = new ArrayList<>();
    List<byte[]> bodies = new ArrayList<>();
    for (int number = 0; number < MESSAGES; number++) {
      MessageId message = ids.next();
      messages.add(message);
      List<DeliveryEvent> events = new ArrayList<>(eventsOf(message));
      for (int lie = 0; lie < 5; lie++) {
        events.add(opened(ids.next(), LIAR));
      }
      bodies.add(batch(events));
    }
    publish(bodies);

    consumer.start();

    Eventually.within(SOON, () -> assertThat(done(Topology.EVENTS)).isEqualTo(MESSAGES));
    assertThat(delivered()).isEqualTo(MESSAGES);
    assertThat(looks).as("no AMQP message was handed out again").hasValue(MESSAGES);
    assertThat(dropped()).as("they may still be honest").isZero();

    clock.advance(EarlyEvents.RECEIPT_PATIENCE);

    Eventually.within(SOON, () -> assertThat(dropped()).isEqualTo(5 * MESSAGES));
    Eventually.within(SOON, () -> assertThat(inHandOrWaiting()).isZero());
    assertThat(looks).hasValue(MESSAGES);
  }

  @Test
  void an_honest_receipt_that_comes_before_its_message_counts_once_the_row_is_there()
      throws Exception {
    MessageId message = ids.next();
    List<DeliveryEvent> early = new ArrayList<>();
    for (int lie = 0; lie < 20; lie++) {
      early.add(opened(ids.next(), LIAR));
    }
    early.add(10, opened(message, HONEST));
    publish(List.of(batch(early)));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(earlyLooks).hasValueGreaterThan(2));
    assertThat(openedAt(message)).isZero();

    publish(List.of(batch(eventsOf(message))));

    Eventually.within(SOON, () -> assertThat(openedAt(message)).isEqualTo(1));
    assertThat(looks).as("its own message and that of the row").hasValue(2);
    assertThat(dropped()).isZero();
  }

  /// MySQL was away, and the receipt is older than the message in front of which it was handed out.
  @Test
  void an_old_receipt_that_is_written_before_its_delivery_counts_too() throws Exception {
    MessageId message = ids.next();
    DeliveryEvent opened = opened(message, HONEST);
    clock.advance(EarlyEvents.RECEIPT_PATIENCE.plusSeconds(1));
    publish(List.of(batch(List.of(opened))));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(looks).hasValue(1));
    Eventually.within(SOON, () -> assertThat(done(Topology.EVENTS)).isEqualTo(1));

    publish(List.of(batch(eventsOf(message))));

    Eventually.within(SOON, () -> assertThat(openedAt(message)).isEqualTo(1));
    assertThat(dropped()).isZero();
  }

  @Test
  void an_event_that_the_broker_does_not_take_stays_in_its_message() throws Exception {
    MessageId late = ids.next();
    MessageId written = ids.next();
    List<DeliveryEvent> events = new ArrayList<>(eventsOf(written));
    events.add(opened(late, HONEST));
    brokerAway.set(true);
    publish(List.of(batch(events)));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(looks).hasValueGreaterThan(1));
    assertThat(done(Topology.EVENTS)).isZero();

    brokerAway.set(false);
    Eventually.within(SOON, () -> assertThat(done(Topology.EVENTS)).isEqualTo(1));
    publish(List.of(batch(eventsOf(late))));

    Eventually.within(SOON, () -> assertThat(openedAt(late)).isEqualTo(1));
    assertThat(delivered()).as("each once").isEqualTo(2);
  }

  private void publishEarly(List<byte[]> events) {
    if (brokerAway.get()) {
      throw new BrokerUnavailable("the message broker is away", null);
    }
    servers.lanes().publishAndWait(Topology.EARLY, events);
  }

  private interface Taking {
    List<DeadItem> take(byte[] body);
  }

  private static BatchHandler counting(AtomicInteger looks, Taking taking) {
    return (body, _, _) -> {
      looks.incrementAndGet();
      return taking.take(body);
    };
  }

  private List<DeliveryEvent> eventsOf(MessageId message) {
    Attempt attempt = Attempt.acknowledged(message.time());
    return List.of(
        new DeliveryEvent.Accepted(
            SHOP,
            message.time(),
            message,
            message.time().plusSeconds(60),
            WireForm.json(new Audience.Devices(List.of(HONEST))),
            WireForm.json(new Content("Hello", null, Map.of())),
            WireForm.json(DeliveryOptions.DEFAULT),
            List.of(HONEST),
            true,
            null),
        new DeliveryEvent.Ended(
            SHOP, message.time(), message, HONEST, DeliveryState.DELIVERED, attempt));
  }

  private DeliveryEvent opened(MessageId message, DeviceId device) {
    return new DeliveryEvent.Receipt(
        SHOP, clock.instant(), message, device, DeliveryEvent.Receipt.Kind.OPENED);
  }

  private static byte[] batch(List<DeliveryEvent> events) {
    return WireForm.join(events.stream().map(WireForm::write).toList());
  }

  /// Publishes each body in an AMQP message of its own, unchanged.
  private void publish(List<byte[]> bodies) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      for (byte[] body : bodies) {
        channel.basicPublish("", Topology.EVENTS, null, body);
      }
      channel.waitForConfirmsOrDie(SOON.toMillis());
    }
  }

  private double done(String queue) {
    return meters.counter("pushplanet.intake.messages", "queue", queue, "result", "done").count();
  }

  private double dropped() {
    return meters.get("pushplanet.statistics.receipts.dropped").counter().count();
  }

  private double inHandOrWaiting() throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return meters.get("pushplanet.intake.in.hand").gauge().value()
          + channel.messageCount(Topology.EARLY)
          + channel.messageCount(Topology.EVENTS);
    }
  }

  private long delivered() {
    return count("SELECT SUM(delivered) FROM messages WHERE app_id = ?", SHOP.value());
  }

  private long openedAt(MessageId message) {
    return count("SELECT SUM(opened) FROM messages WHERE id = ?", message.value());
  }

  private long count(String sql, String argument) {
    Long count = servers.sql().queryForObject(sql, Long.class, argument);
    return count == null ? 0 : count;
  }
}
