package io.pushplanet.quickstart.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.Signals;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class LanePublisherIT {
  private static final String QUEUE = "push.webpush.normal";
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /// At most ten items, and one message without its confirm.
  private static final LanePublisher.Settings TIGHT =
      new LanePublisher.Settings(
          Duration.ofMillis(1),
          Duration.ofMillis(1),
          64,
          1 << 18,
          10,
          1 << 20,
          1,
          Duration.ofSeconds(10),
          Duration.ofSeconds(10));

  private final LocalServices services = LocalServices.forTests();
  private final ConnectionFactory connections = connections();
  private LanePublisher lane =
      new LanePublisher(
          connections,
          "test",
          LanePublisher.Settings.DEFAULT,
          RandomGenerator.getDefault(),
          new SimpleMeterRegistry());

  @BeforeEach
  void wait_for_the_broker() throws Exception {
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isTrue());
    try (Connection connection = connections.newConnection();
        Channel channel = connection.createChannel()) {
      channel.queuePurge(QUEUE);
    }
  }

  @AfterEach
  void close() {
    lane.close();
  }

  @Test
  void an_error_while_sending_fails_its_items_and_the_lane_connects_again() throws Exception {
    AtomicInteger confirmed = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    // One message without a confirm: the one with the Error must not count as unconfirmed for ever.
    try (LanePublisher other =
        new LanePublisher(
            failingOnce(),
            "test",
            TIGHT,
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry())) {
      Eventually.within(PATIENCE, () -> assertThat(other.connected()).isTrue());
      other.publish(QUEUE, item(1), counting(confirmed, failed));
      Eventually.within(PATIENCE, () -> assertThat(failed).hasValue(1));

      Eventually.within(
          PATIENCE,
          () -> {
            other.publish(QUEUE, item(2), counting(confirmed, new AtomicInteger()));
            assertThat(confirmed).hasPositiveValue();
          });
    }
  }

  @Test
  @SuppressWarnings(
      "NullAway") // a round that cannot even be put into batches, as when memory has run out
  void an_error_between_the_queue_and_the_broker_fails_the_taken_items() {
    AtomicInteger failed = new AtomicInteger();
    LanePublisher.Settings broken = LanePublisher.Settings.DEFAULT.lingering(null);
    try (LanePublisher other =
        new LanePublisher(
            connections,
            "broken",
            broken,
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry())) {
      for (int item = 1; item <= 2; item++) {
        Eventually.within(PATIENCE, () -> assertThat(other.connected()).isTrue());
        other.publish(QUEUE, item(item), counting(new AtomicInteger(), failed));
        int all = item;
        Eventually.within(PATIENCE, () -> assertThat(failed).hasValue(all));
      }
    }
  }

  /// A broker also confirms a message without a queue. The test does not delete a queue: killed
  /// soon after, RabbitMQ 3.10 would lack all queues of that name.
  @Test
  void an_item_without_a_queue_fails_and_the_lane_connects_again() {
    assertThatThrownBy(() -> lane.publishAndWait("push.nobody", List.of(item(1))))
        .isInstanceOf(BrokerUnavailable.class)
        .hasMessageContaining("push.nobody is gone");

    Eventually.within(PATIENCE, () -> lane.publishAndWait(QUEUE, List.of(item(2))));
  }

  @Test
  void a_lane_with_too_many_bytes_under_way_refuses_more() throws Exception {
    lane.close();
    lane =
        new LanePublisher(
            connections,
            "small",
            settings(Duration.ofMillis(1), Duration.ofMillis(1)),
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry());
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isTrue());
    AtomicInteger confirmed = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    long broker = services.process(Service.AMQP).pid();
    Signals.stop(broker);
    try {
      for (int item = 0; item < 10; item++) {
        lane.publish(QUEUE, large(), counting(confirmed, failed));
      }
      assertThat(failed).hasValue(5);
    } finally {
      Signals.resume(broker);
    }

    Eventually.within(PATIENCE, () -> assertThat(confirmed).hasValue(5));
    // More than may be under way at once, but one after the other.
    for (int item = 0; item < 10; item++) {
      lane.publishAndWait(QUEUE, List.of(large()));
    }
  }

  private static byte[] large() {
    return ('"' + "x".repeat(200_000) + '"').getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void a_throwing_confirmation_does_not_affect_others() {
    AtomicInteger confirmed = new AtomicInteger();
    lane.close();
    lane =
        new LanePublisher(
            connections,
            "lingering",
            settings(Duration.ofMillis(200), Duration.ofMillis(200)),
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry());
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isTrue());

    lane.publish(
        QUEUE,
        item(1),
        new LanePublisher.Confirmation() {
          @Override
          public void confirmed() {
            confirmed.incrementAndGet();
            throw new NoClassDefFoundError("io/pushplanet/Gone");
          }

          @Override
          public void failed(BrokerUnavailable why) {}
        });
    lane.publish(QUEUE, item(2), counting(confirmed, new AtomicInteger()));

    Eventually.within(PATIENCE, () -> assertThat(confirmed).hasValue(2));
  }

  @Test
  void items_share_messages_and_every_item_arrives_once() throws Exception {
    AtomicInteger confirmed = new AtomicInteger();
    for (int i = 0; i < 1_000; i++) {
      lane.publish(QUEUE, item(i), counting(confirmed, new AtomicInteger()));
    }
    Eventually.within(PATIENCE, () -> assertThat(confirmed).hasValue(1_000));

    List<List<String>> batches = drain();

    assertThat(batches).hasSizeLessThan(1_000);
    assertThat(batches.stream().flatMap(List::stream)).hasSize(1_000).doesNotHaveDuplicates();
  }

  @Test
  void an_occasional_item_does_not_wait_for_the_pace() {
    AtomicInteger confirmed = new AtomicInteger();
    lane.close();
    lane =
        new LanePublisher(
            connections,
            "slow",
            settings(Duration.ofMillis(1), Duration.ofHours(1)),
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry());
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isTrue());

    for (int round = 1; round <= 3; round++) {
      int sent = round;
      lane.publish(QUEUE, item(round), counting(confirmed, new AtomicInteger()));
      Eventually.within(PATIENCE, () -> assertThat(confirmed).hasValue(sent));
    }
  }

  /// As a queue or a confirm does after a wait that ended by itself.
  @Test
  void a_late_unpark_sends_no_round_sooner() throws Exception {
    Duration linger = Duration.ofMillis(400);
    lane.close();
    lane =
        new LanePublisher(
            connections,
            "woken",
            settings(linger, Duration.ofMillis(1)),
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry());
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isTrue());
    Thread sender =
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().equals("lane-woken"))
            .findFirst()
            .orElseThrow();
    AtomicInteger confirmed = new AtomicInteger();

    long given = System.nanoTime();
    lane.publish(QUEUE, item(1), counting(confirmed, new AtomicInteger()));
    while (confirmed.get() == 0) {
      LockSupport.unpark(sender);
      Thread.sleep(1);
      assertThat(System.nanoTime() - given).isLessThan(PATIENCE.toNanos());
    }

    assertThat(System.nanoTime() - given).isGreaterThanOrEqualTo(linger.toNanos());
  }

  private static LanePublisher.Settings settings(Duration linger, Duration pace) {
    return new LanePublisher.Settings(
        linger, pace, 64, 1 << 18, 1_000, 1 << 20, 1_000, PATIENCE, PATIENCE);
  }

  @Test
  void an_item_waits_for_its_confirm() {
    lane.publishAndWait(QUEUE, List.of(item(1), item(2)));

    Eventually.within(
        PATIENCE,
        () ->
            assertThat(drain().stream().flatMap(List::stream)).containsExactly("item 1", "item 2"));
  }

  @Test
  void confirmed_items_survive_the_broker_and_others_are_reported() throws Exception {
    Set<String> confirmed = ConcurrentHashMap.newKeySet();
    AtomicInteger settled = new AtomicInteger();
    for (int sent = 0; sent < 2_000; sent++) {
      String text = "item " + sent;
      if (sent == 1_000) {
        services.kill9(Service.AMQP);
      }
      lane.publish(
          QUEUE,
          item(sent),
          new LanePublisher.Confirmation() {
            @Override
            public void confirmed() {
              confirmed.add(text);
              settled.incrementAndGet();
            }

            @Override
            public void failed(BrokerUnavailable why) {
              settled.incrementAndGet();
            }
          });
    }
    Eventually.within(PATIENCE, () -> assertThat(settled).hasValue(2_000));
    services.restart(Service.AMQP);
    // The broker accepts connections before it has the queue.
    Eventually.within(PATIENCE, () -> lane.publishAndWait(QUEUE, List.of(item(2_000))));

    assertThat(drain().stream().flatMap(List::stream)).containsAll(confirmed);
  }

  @Test
  void while_the_broker_is_away_an_item_fails_at_once() {
    services.kill9(Service.AMQP);
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isFalse());

    assertThatThrownBy(() -> lane.publishAndWait(QUEUE, List.of(item(1))))
        .isInstanceOf(BrokerUnavailable.class);

    services.restart(Service.AMQP);
    Eventually.within(PATIENCE, () -> lane.publishAndWait(QUEUE, List.of(item(2))));
  }

  @Test
  void an_item_that_a_frozen_broker_does_not_confirm_fails() throws Exception {
    beImpatient(10);
    long broker = services.process(Service.AMQP).pid();
    Signals.stop(broker);
    try {
      assertThatThrownBy(() -> lane.publishAndWait(QUEUE, List.of(item(2))))
          .isInstanceOf(BrokerUnavailable.class);
    } finally {
      Signals.resume(broker);
    }

    Eventually.within(PATIENCE, () -> lane.publishAndWait(QUEUE, List.of(item(3))));
  }

  /// A lane that waits for one second and takes this number of items and batches; it has published
  /// item 1.
  private void beImpatient(int most) {
    lane.close();
    LanePublisher.Settings impatient =
        new LanePublisher.Settings(
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            64,
            1 << 18,
            most,
            1 << 26,
            most,
            Duration.ofSeconds(1),
            Duration.ofSeconds(1));
    lane =
        new LanePublisher(
            connections,
            "impatient",
            impatient,
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry());
    Eventually.within(PATIENCE, () -> lane.publishAndWait(QUEUE, List.of(item(1))));
  }

  /// A write to a socket that the broker does not read holds the driver's lock for as long as it
  /// takes.
  @Test
  void a_frozen_broker_with_a_full_socket_is_left_and_all_items_fail() throws Exception {
    beImpatient(1_000);
    AtomicInteger confirmed = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    long broker = services.process(Service.AMQP).pid();
    Signals.stop(broker);
    try {
      for (int item = 0; item < 200; item++) {
        lane.publish(QUEUE, large(), counting(confirmed, failed));
      }
      Eventually.within(PATIENCE, () -> assertThat(failed).hasValue(200));
      assertThat(confirmed).hasValue(0);
    } finally {
      Signals.resume(broker);
    }

    Eventually.within(PATIENCE, () -> lane.publishAndWait(QUEUE, List.of(item(3))));
  }

  /// As RabbitMQ does when its memory runs out: it keeps the connection but stops reading from it.
  @Test
  void a_blocked_broker_is_sent_nothing_and_its_connection_is_kept() throws Exception {
    assumeTrue(services.isRabbitMq(), "the embedded broker blocks nobody");
    AtomicInteger confirmed = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();
    AtomicInteger made = new AtomicInteger();
    LanePublisher.Settings settings =
        LanePublisher.Settings.DEFAULT.blockedWithin(Duration.ofMillis(100));
    try (LanePublisher other =
        new LanePublisher(
            counted(made),
            "blocked",
            settings,
            RandomGenerator.getDefault(),
            new SimpleMeterRegistry())) {
      Eventually.within(PATIENCE, () -> assertThat(other.connected()).isTrue());
      services.rabbitmqctl("set_vm_memory_high_watermark", "0");
      try {
        // The broker reports this only to publishers.
        other.publish(QUEUE, item(1), counting(confirmed, failed));
        Eventually.within(PATIENCE, () -> assertThat(failed).hasValue(1));
        other.publish(QUEUE, item(2), counting(confirmed, failed));
        Eventually.within(PATIENCE, () -> assertThat(failed).hasValue(2));
        assertThat(other.takesNothing()).isTrue();
      } finally {
        services.rabbitmqctl("set_vm_memory_high_watermark", "0.4");
      }

      Eventually.within(PATIENCE, () -> other.publishAndWait(QUEUE, List.of(item(3))));
      assertThat(other.takesNothing()).isFalse();
      assertThat(confirmed).hasValue(0);
      assertThat(made).hasValue(1);
      assertThat(drain().stream().flatMap(List::stream)).containsExactly("item 1", "item 3");
    }
  }

  @Test
  void a_full_lane_refuses_rather_than_grows() {
    lane.close();
    lane =
        new LanePublisher(
            connections, "tight", TIGHT, RandomGenerator.getDefault(), new SimpleMeterRegistry());
    Eventually.within(PATIENCE, () -> assertThat(lane.connected()).isTrue());
    AtomicInteger confirmed = new AtomicInteger();
    AtomicInteger failed = new AtomicInteger();

    for (int i = 0; i < 5_000; i++) {
      lane.publish(QUEUE, item(i), counting(confirmed, failed));
    }

    Eventually.within(PATIENCE, () -> assertThat(confirmed.get() + failed.get()).isEqualTo(5_000));
    assertThat(failed).hasPositiveValue();
    assertThat(confirmed).hasPositiveValue();
  }

  @RepeatedTest(20)
  void an_item_published_during_the_close_gets_its_result() {
    Queue<AtomicInteger> told = new ConcurrentLinkedQueue<>();
    int publishers = 16;

    // The lane is closed while they publish.
    try (ExecutorService threads = Executors.newFixedThreadPool(publishers);
        LanePublisher closing = lane) {
      for (int publisher = 0; publisher < publishers; publisher++) {
        threads.execute(() -> {
          while (closing.connected()) {
            AtomicInteger times = new AtomicInteger();
            told.add(times);
            closing.publish(QUEUE, item(1), counting(times, times));
          }
        });
      }
      Eventually.within(PATIENCE, () -> assertThat(told.size()).isGreaterThan(10_000));
    }

    Eventually.within(
        PATIENCE, () -> assertThat(told).filteredOn(times -> times.get() != 1).isEmpty());
  }

  private static LanePublisher.Confirmation counting(
      AtomicInteger confirmed, AtomicInteger failed) {
    return new LanePublisher.Confirmation() {
      @Override
      public void confirmed() {
        confirmed.incrementAndGet();
      }

      @Override
      public void failed(BrokerUnavailable why) {
        failed.incrementAndGet();
      }
    };
  }

  private static byte[] item(int number) {
    return ("\"item " + number + "\"").getBytes(StandardCharsets.UTF_8);
  }

  private List<List<String>> drain() throws Exception {
    List<List<String>> batches = new ArrayList<>();
    try (Connection connection = connections.newConnection();
        Channel channel = connection.createChannel()) {
      Topology.declare(connection);
      GetResponse message = channel.basicGet(QUEUE, false);
      while (message != null) {
        batches.add(WireForm.readBatch(message.getBody(), String.class));
        channel.basicAck(message.getEnvelope().getDeliveryTag(), false);
        message = channel.basicGet(QUEUE, false);
      }
    }
    return batches;
  }

  /// Its first message ends with an Error.
  private ConnectionFactory failingOnce() throws Exception {
    AtomicInteger sent = new AtomicInteger();
    ConnectionFactory factory =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            Connection real = super.newConnection(name);
            return answering(
                Connection.class,
                real,
                (method, answer) ->
                    answer instanceof Channel channel
                        ? answering(
                            Channel.class,
                            channel,
                            (called, result) -> {
                              if (called.equals("getNextPublishSeqNo")
                                  && sent.incrementAndGet() == 1) {
                                throw new NoClassDefFoundError("com/rabbitmq/client/Gone");
                              }
                              return result;
                            })
                        : answer);
          }
        };
    factory.setUri(services.amqp());
    factory.setAutomaticRecoveryEnabled(false);
    return factory;
  }

  private ConnectionFactory counted(AtomicInteger made) throws Exception {
    ConnectionFactory factory =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            made.incrementAndGet();
            return super.newConnection(name);
          }
        };
    factory.setUri(services.amqp());
    factory.setAutomaticRecoveryEnabled(false);
    return factory;
  }

  private interface Answering {
    @Nullable Object answer(String method, @Nullable Object answer);
  }

  private static <T> T answering(Class<T> type, T real, Answering answering) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (_, method, arguments) ->
                answering.answer(method.getName(), method.invoke(real, arguments))));
  }

  private ConnectionFactory connections() {
    ConnectionFactory factory = new ConnectionFactory();
    try {
      factory.setUri(services.amqp());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    factory.setAutomaticRecoveryEnabled(false);
    return factory;
  }
}
