package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.PushBuilder;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.intake.DeadItems;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.statistics.StatisticsWriter;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NeighboursIT {
  private static final DeliveryOptions HIGH =
      new DeliveryOptions(
          Route.VENDOR, Duration.ofHours(1), Urgency.HIGH, null, Duration.ofSeconds(5));

  private final Clock clock = Clock.systemUTC();
  private final RedisClient nowhere = RedisClient.create("redis://127.0.0.1:1");
  private final RedisLink away = RedisLink.open(nowhere);
  private final ApnsForTests apns = new ApnsForTests();
  private RealServers servers;

  /// Accepts every token but "bug", for which it throws, as it does for the app "broken".
  private static final class ApnsForTests implements Provider {
    final Queue<String> sent = new ConcurrentLinkedQueue<>();
    volatile boolean repaired;

    @Override
    public Channel channel() {
      return Channel.APNS;
    }

    @Override
    public Optional<DeliveryOutcome> putOff(Push push) {
      if (push.app().value().equals("broken")) {
        throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
      }
      return Optional.empty();
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      String device = recipient.device().value();
      sent.add(device);
      if (device.equals("bug") && !repaired) {
        throw new IllegalStateException("a bug");
      }
      if (device.equals("gone")) {
        throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
      }
      return new DeliveryOutcome.Accepted(200, "", "id-of-" + device);
    }
  }

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
    servers.sql().update("DELETE FROM inbox");
    servers.sql().update("DELETE FROM later");
  }

  @AfterEach
  void close() {
    servers.close();
    away.close();
    nowhere.shutdown(Duration.ZERO, Duration.ofSeconds(1));
  }

  @Test
  void a_batch_that_is_handed_out_again_is_sent_once_when_its_end_is_written() throws Exception {
    DeliveryForTests delivery = delivery(servers.sessions());
    byte[] batch = batch(aPush(clock).toApns("d1", "aa").build());

    delivery.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());
    List<DeliveryEvent> told = servers.drain(Topology.EVENTS, DeliveryEvent.class);
    new StatisticsWriter(servers.database()).write(told);
    delivery.deliver(Channel.APNS, batch, true, Ticket.ofNoOrder());

    assertThat(apns.sent).containsExactly("d1");
    assertThat(ends(told)).containsExactly(DeliveryState.DELIVERED);
    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class)).isEmpty();
  }

  @Test
  void a_message_that_meets_a_bug_affects_no_other_message() throws Exception {
    byte[] batch =
        batch(aPush(clock).toApns("bug", "aa").toApns("d2", "bb").toApns("gone", "cc").build());

    delivery(servers.sessions()).deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());

    assertThat(ends(servers.drain(Topology.EVENTS, DeliveryEvent.class)))
        .containsExactly(DeliveryState.DELIVERED);
    assertThat(servers.sql().queryForList("SELECT reason FROM later", String.class))
        .containsExactly("internal_error", "internal_error");
  }

  @Test
  void an_error_before_a_messages_turn_repeats_no_other_message() throws Exception {
    byte[] batch =
        WireForm.join(
            List.of(
                WireForm.write(aPush(clock).toApns("d1", "aa").build()),
                WireForm.write(aPush(clock).from("broken").toApns("d2", "bb").build())));

    delivery(servers.sessions()).deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());

    assertThat(apns.sent).containsExactlyInAnyOrder("d1", "d2");
    assertThat(ends(servers.drain(Topology.EVENTS, DeliveryEvent.class)))
        .containsExactly(DeliveryState.DELIVERED, DeliveryState.DELIVERED);
  }

  @Test
  void an_unreadable_push_takes_no_other_push_to_the_dead_letters() {
    byte[] rubbish = "{\"id\":7}".getBytes(StandardCharsets.UTF_8);
    byte[] batch =
        WireForm.join(
            List.of(
                WireForm.write(aPush(clock).from("a").toApns("d1", "aa").build()),
                rubbish,
                WireForm.write(aPush(clock).from("b").toApns("d2", "bb").build())));

    List<DeadItem> dead = dead(delivery(servers.sessions()), batch);

    assertThat(apns.sent).containsExactlyInAnyOrder("d1", "d2");
    assertThat(dead).hasSize(1);
    assertThat(dead.getFirst().batch()).isEqualTo(WireForm.join(List.of(rubbish)));
    assertThat(dead.getFirst().reason()).contains("Push");
  }

  @Test
  void a_message_that_meets_a_bug_again_and_again_becomes_a_dead_letter() throws Exception {
    DeliveryForTests delivery = delivery(servers.sessions());
    Push push = servers.registered(aPush(clock).toApns("bug", "aa").toApns("d2", "bb").build());
    byte[] batch = batch(push);
    for (int tries = 1; tries < DeliveryForTests.MAX_ERRORS; tries++) {
      delivery.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder());
      batch = later();
    }

    List<DeadItem> dead = dead(delivery, batch);

    writeWhatWasTold();
    assertThat(dead).hasSize(1);
    assertThat(dead.getFirst().reason())
        .isEqualTo("internal_error: java.lang.IllegalStateException: a bug");
    assertThat(WireForm.readBatch(dead.getFirst().batch(), Push.class).getFirst().recipients())
        .extracting(recipient -> recipient.device().value())
        .containsExactly("bug");
    assertThat(delivered(push, "bug"))
        .containsEntry("state", "failed")
        .containsEntry("reason", "internal_error");
    assertThat(delivered(push, "bug").get("attempts").toString())
        .contains("kept in the dead letters after 3 errors; an operator may replay it");
    assertThat(counts(push)).isEqualTo("2 recipients, 1 delivered, 1 failed");

    apns.repaired = true;
    delivery.deliver(Channel.APNS, dead.getFirst().batch(), false, Ticket.ofNoOrder());
    writeWhatWasTold();
    delivery.deliver(Channel.APNS, dead.getFirst().batch(), false, Ticket.ofNoOrder());

    assertThat(apns.sent).containsExactlyInAnyOrder("bug", "bug", "bug", "bug", "d2");
    assertThat(delivered(push, "bug")).containsEntry("state", "delivered");
    assertThat(counts(push)).isEqualTo("2 recipients, 2 delivered, 0 failed");
  }

  /// The dead letters of a batch.
  private static List<DeadItem> dead(DeliveryForTests delivery, byte[] batch) {
    List<DeadItem> dead = new ArrayList<>();
    assertThatThrownBy(() -> delivery.deliver(Channel.APNS, batch, false, Ticket.ofNoOrder()))
        .isInstanceOfSatisfying(DeadItems.class, thrown -> dead.addAll(thrown.items()));
    return dead;
  }

  /// Takes out the messages in `later`.
  private byte[] later() {
    String waits = servers.sql().queryForObject("SELECT pushes FROM later", String.class);
    servers.sql().update("DELETE FROM later");
    return waits.getBytes(StandardCharsets.UTF_8);
  }

  private void writeWhatWasTold() throws Exception {
    new StatisticsWriter(servers.database())
        .write(servers.drain(Topology.EVENTS, DeliveryEvent.class));
  }

  private Map<String, Object> delivered(Push push, String device) {
    return servers
        .sql()
        .queryForMap(
            "SELECT state, reason, attempts FROM deliveries WHERE message_id = ? AND device_id = ?",
            push.id().value(),
            device);
  }

  private String counts(Push push) {
    return servers
        .sql()
        .queryForObject(
            "SELECT CONCAT(recipients, ' recipients, ', delivered, ' delivered, ', failed, ' failed')"
                + " FROM messages WHERE id = ?",
            String.class,
            push.id().value());
  }

  @Test
  void a_message_for_an_absent_device_is_parked_once() {
    DeliveryForTests delivery = delivery(servers.sessions());
    byte[] batch = batch(aPush(clock).toMqtt("away").build());

    delivery.deliver(Channel.MQTT, batch, false, Ticket.ofNoOrder());
    delivery.deliver(Channel.MQTT, batch, true, Ticket.ofNoOrder());

    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class))
        .containsExactly("away");
  }

  @Test
  void nothing_is_parked_while_redis_is_away() {
    DeliveryForTests delivery = delivery(new SessionDirectory(away, clock));

    delivery.deliver(
        Channel.MQTT, batch(aPush(clock).toMqtt("here").build()), false, Ticket.ofNoOrder());

    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class)).isEmpty();
    assertThat(servers.sql().queryForList("SELECT reason FROM later", String.class))
        .containsExactly(NodeDelivery.DIRECTORY_UNAVAILABLE);
  }

  @Test
  void now_or_never_for_an_absent_device_expires_and_is_not_parked() throws Exception {
    DeliveryOptions nowOrNever =
        new DeliveryOptions(Route.MQTT, Duration.ZERO, Urgency.HIGH, null, Duration.ofSeconds(5));

    delivery(servers.sessions())
        .deliver(
            Channel.MQTT,
            batch(aPush(clock).delivered(nowOrNever).toMqtt("away").build()),
            false,
            Ticket.ofNoOrder());

    assertThat(ends(servers.drain(Topology.EVENTS, DeliveryEvent.class)))
        .containsExactly(DeliveryState.EXPIRED);
    assertThat(servers.sql().queryForList("SELECT device_id FROM inbox", String.class)).isEmpty();
  }

  /// Holds up one app, by FCM's answers or by its pace, and no other.
  private static final class FcmForTests implements Provider {
    final CountDownLatch goesOn = new CountDownLatch(1);
    final Queue<String> sent = new ConcurrentLinkedQueue<>();
    private final boolean before;

    /// @param before whether the app is held up before its messages have a permit
    FcmForTests(boolean before) {
      this.before = before;
    }

    @Override
    public Channel channel() {
      return Channel.FCM;
    }

    @Override
    public Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
      if (before) {
        holdUp(push);
      }
      return Optional.empty();
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      try {
        if (!before) {
          holdUp(push);
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      sent.add(recipient.device().value());
      return new DeliveryOutcome.Accepted(200, "", null);
    }

    private void holdUp(Push push) throws InterruptedException {
      if (push.app().value().equals("held-up") && !goesOn.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("never released");
      }
    }
  }

  private static byte[] manyOfTheHeldUpApp() {
    PushBuilder many = aPush(Clock.systemUTC()).from("held-up").delivered(HIGH);
    for (int i = 0; i < 300; i++) {
      many.toFcm("held-" + i, "token-" + i);
    }
    return batch(many.build());
  }

  @Test
  void a_high_message_does_not_wait_for_another_app_that_waits_for_its_turn() throws Exception {
    FcmForTests fcm = new FcmForTests(true);
    DeliveryForTests delivery = delivery(servers.sessions(), fcm);
    byte[] broadcast = manyOfTheHeldUpApp();
    Thread heldUp =
        Thread.ofVirtual()
            .start(() -> delivery.deliver(Channel.FCM, broadcast, false, Ticket.ofNoOrder()));

    try {
      delivery.deliver(
          Channel.FCM,
          batch(aPush(clock).from("other").delivered(HIGH).toFcm("d1", "t1").build()),
          false,
          Ticket.ofNoOrder());

      assertThat(fcm.sent).containsExactly("d1");
    } finally {
      fcm.goesOn.countDown();
    }
    assertThat(heldUp.join(Duration.ofSeconds(60))).isTrue();
    assertThat(fcm.sent).hasSize(301);
  }

  @Test
  void an_app_whose_provider_hangs_leaves_permits_to_others() throws Exception {
    FcmForTests fcm = new FcmForTests(false);
    DeliveryForTests delivery = delivery(servers.sessions(), fcm);
    byte[] broadcast = manyOfTheHeldUpApp();
    Thread heldUp =
        Thread.ofVirtual()
            .start(() -> delivery.deliver(Channel.FCM, broadcast, false, Ticket.ofNoOrder()));

    try {
      for (int i = 0; i < 20; i++) {
        delivery.deliver(
            Channel.FCM,
            batch(aPush(clock).from("other").delivered(HIGH).toFcm("d" + i, "t" + i).build()),
            false,
            Ticket.ofNoOrder());
      }

      assertThat(fcm.sent).hasSize(20);
      // The app gets at most 52 of 64 permits; the rest of its 300 messages do not wait in the
      // lane.
      Eventually.within(
          Duration.ofSeconds(30),
          () -> {
            delivery.refuseStuck();
            assertThat(
                    servers
                        .sql()
                        .queryForObject(
                            "SELECT COUNT(*) FROM later WHERE app_id = 'held-up' AND reason = 'provider_slow'",
                            Integer.class))
                .isGreaterThanOrEqualTo(300 - 52);
          });
    } finally {
      fcm.goesOn.countDown();
    }
    assertThat(heldUp.join(Duration.ofSeconds(60))).isTrue();
  }

  /// Answers no request: it gives some up after a while, and the others when it is released.
  private static final class SilentFcm implements Provider {
    final CountDownLatch givesUp = new CountDownLatch(1);
    final AtomicInteger underWay = new AtomicInteger();

    @Override
    public Channel channel() {
      return Channel.FCM;
    }

    @Override
    public DeliveryOutcome send(Push push, Recipient recipient) {
      underWay.incrementAndGet();
      try {
        boolean soon = recipient.device().value().startsWith("soon");
        var _ = givesUp.await(soon ? 2_500 : 60_000, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        underWay.decrementAndGet();
      }
      return new DeliveryOutcome.Deferred(0, "timeout", null, true);
    }
  }

  @Test
  void an_app_whose_requests_time_out_gets_an_eighth_of_the_permits() throws Exception {
    SilentFcm fcm = new SilentFcm();
    DeliveryForTests delivery = delivery(servers.sessions(), fcm);
    List<Thread> sends = new ArrayList<>(deliverEach(delivery, "held", 1));
    try {
      for (Thread soon : deliverEach(delivery, "soon", 20)) {
        soon.join();
      }

      sends.addAll(deliverEach(delivery, "more", 30));

      // It gets 8 of 64 permits, and holds one of these already.
      Eventually.within(
          Duration.ofSeconds(30),
          () ->
              assertThat(
                      servers
                          .sql()
                          .queryForObject(
                              "SELECT COUNT(*) FROM later WHERE reason = 'provider_slow'",
                              Integer.class))
                  .isEqualTo(30 - 7));
      assertThat(fcm.underWay).hasValue(8);
    } finally {
      fcm.givesUp.countDown();
    }
    for (Thread send : sends) {
      send.join();
    }
  }

  /// Each message in a batch of its own.
  private List<Thread> deliverEach(DeliveryForTests delivery, String devices, int many) {
    return IntStream.range(0, many)
        .mapToObj(i -> batch(aPush(clock).delivered(HIGH).toFcm(devices + i, "token").build()))
        .map(one ->
            Thread.ofVirtual()
                .start(() -> delivery.deliver(Channel.FCM, one, false, Ticket.ofNoOrder())))
        .toList();
  }

  private DeliveryForTests delivery(SessionDirectory directory) {
    return delivery(directory, apns);
  }

  private DeliveryForTests delivery(SessionDirectory directory, Provider provider) {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    return DeliveryForTests.at(
            servers,
            DeliveryForTests.nodes(directory, clock, meters),
            new RouteStore(away),
            clock,
            meters)
        .directory(directory)
        .providers(provider)
        .build();
  }

  private static byte[] batch(Push push) {
    return WireForm.join(List.of(WireForm.write(push)));
  }

  private static List<DeliveryState> ends(List<DeliveryEvent> events) {
    return events.stream()
        .filter(DeliveryEvent.Ended.class::isInstance)
        .map(event -> ((DeliveryEvent.Ended) event).state())
        .toList();
  }
}
