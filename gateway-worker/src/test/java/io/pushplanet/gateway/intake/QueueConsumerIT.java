package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import com.rabbitmq.client.MessageProperties;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessResourceFailureException;

class QueueConsumerIT {
  private static final String QUEUE = "push.webpush.normal";
  private static final Duration SOON = Duration.ofSeconds(60);

  private final AtomicBoolean resting = new AtomicBoolean();
  private RealServers servers;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
  }

  @AfterEach
  void close() {
    servers.close();
  }

  @Test
  void a_message_that_fails_is_handed_out_again_and_says_so() throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer((body, again) -> {
          redelivered.add(again);
          if (!again) {
            throw new IllegalStateException("MySQL is away");
          }
        });
    servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));

    consumer.start();

    Eventually.within(SOON, () -> assertThat(redelivered).containsExactly(false, true));
    consumer.stop();
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void a_channel_that_the_broker_closes_is_opened_anew() throws Exception {
    Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer(
            watched(channels),
            (body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8)));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(consumer.connected()).isTrue());

    // The first has declared the queues and is closed, the second consumes.
    Channel consuming = List.copyOf(channels).get(1);
    assertThatThrownBy(() -> consuming.queueDeclarePassive("no-such-queue"))
        .isInstanceOf(IOException.class);
    servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));

    Eventually.within(SOON, () -> assertThat(consumed).containsExactly("[{}]"));
    consumer.stop();
  }

  /// The same broker's connections, which tell of their channels.
  private ConnectionFactory watched(Queue<Channel> channels) throws Exception {
    ConnectionFactory watched =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            Connection connection = super.newConnection(name);
            return (Connection)
                Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (_, method, arguments) -> {
                      Object result = method.invoke(connection, arguments);
                      if (result instanceof Channel channel) {
                        channels.add(channel);
                      }
                      return result;
                    });
          }
        };
    watched.setUri(servers.services().amqp());
    watched.setAutomaticRecoveryEnabled(false);
    return watched;
  }

  @Test
  void a_message_whose_handler_ends_with_an_error_is_handed_out_again() throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer((body, again) -> {
          redelivered.add(again);
          if (!again) {
            throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
          }
        });
    servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));

    consumer.start();

    Eventually.within(SOON, () -> assertThat(redelivered).containsExactly(false, true));
    consumer.stop();
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void nothing_is_begun_while_what_comes_of_it_could_not_be_told() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            (body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8)),
            meters);
    startResting(consumer, meters);
    assertThat(consumed).isEmpty();

    resting.set(false);

    Eventually.within(SOON, () -> assertThat(consumed).containsExactly("[{}]"));
    consumer.stop();
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void what_waits_and_is_handed_out_again_meanwhile_is_handled_once() throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(watched(channels), (body, again) -> redelivered.add(again), meters);
    startResting(consumer, meters);

    // The first has declared the queues and is closed, the second consumes.
    List.copyOf(channels).get(1).getConnection().abort();
    Eventually.within(
        SOON,
        () -> {
          assertThat(channels).hasSizeGreaterThanOrEqualTo(4);
          assertThat(meters.get("pushplanet.intake.in.hand").gauge().value()).isEqualTo(1);
        });
    resting.set(false);

    Eventually.within(SOON, () -> assertThat(redelivered).containsExactly(true));
    consumer.stop();
    assertThat(redelivered).containsExactly(true);
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void what_waits_at_a_stop_is_given_back() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            (body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8)),
            meters);
    startResting(consumer, meters);

    consumer.stop();

    assertThat(meters.get("pushplanet.intake.in.hand").gauge().value()).isZero();
    assertThat(consumed).isEmpty();
    Eventually.within(SOON, () -> assertThat(depth(QUEUE)).isEqualTo(1));
  }

  /// With one message in hand that is not begun.
  private void startResting(QueueConsumer consumer, SimpleMeterRegistry meters) {
    resting.set(true);
    servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));
    consumer.start();
    Eventually.within(
        SOON,
        () -> assertThat(meters.get("pushplanet.intake.in.hand").gauge().value()).isEqualTo(1));
  }

  @Test
  void a_message_nobody_can_read_is_kept_with_its_reason() throws Exception {
    QueueConsumer consumer = consumer((body, again) -> WireForm.readBatch(body, Push.class));
    servers.lanes().publishAndWait(QUEUE, List.of("{\"id\":7}".getBytes(StandardCharsets.UTF_8)));

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isEqualTo(1));
    consumer.stop();
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      GetResponse dead = channel.basicGet(Topology.DEAD, true);
      assertThat(dead.getBody()).asString(StandardCharsets.UTF_8).isEqualTo("[{\"id\":7}]");
      assertThat(dead.getProps().getHeaders().get(Topology.DEAD_QUEUE_HEADER)).hasToString(QUEUE);
      assertThat(dead.getProps().getHeaders().get(Topology.DEAD_REASON_HEADER).toString())
          .contains("batch of Push");
    }
  }

  @Test
  void of_a_message_only_the_items_that_nobody_can_handle_are_buried_each_for_itself()
      throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer((body, again) -> {
          List<DeadItem> dead = new ArrayList<>();
          consumed.addAll(WireForm.readBatch(body, String.class, dead::add));
          DeadItems.throwIfAny(dead);
        });
    lanes("\"a\"", "{}", "\"b\"", "[]");

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isEqualTo(2));
    consumer.stop();
    assertThat(consumed).containsExactly("a", "b");
    assertThat(dead()).containsExactly("[{}]", "[[]]");
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void what_trips_its_handler_again_and_again_is_buried_without_its_neighbours() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer((body, again) -> {
          List<String> items = WireForm.readBatch(body, String.class);
          if (items.contains("bug")) {
            throw new IllegalStateException("a parcel", new NullPointerException("a bug"));
          }
          consumed.addAll(items);
        });
    lanes("\"a\"", "\"bug\"", "\"b\"");

    consumer.start();

    Eventually.within(SOON, () -> assertThat(depth(Topology.DEAD)).isEqualTo(1));
    consumer.stop();
    assertThat(consumed).containsExactly("a", "b");
    assertThat(dead()).containsExactly("[\"bug\"]");
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void what_waits_for_a_server_that_is_away_is_never_buried() {
    Stumbles stumbles = new Stumbles();
    for (int i = 0; i < 3 * Stumbles.MOST; i++) {
      assertThat(
              stumbles.tooMany(
                  new byte[] {7}, new DataAccessResourceFailureException("MySQL is away")))
          .isFalse();
    }
  }

  /// Publishes items that share an AMQP message.
  private void lanes(String... items) throws Exception {
    byte[] batch =
        WireForm.join(Stream.of(items).map(item -> item.getBytes(StandardCharsets.UTF_8)).toList());
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_PERSISTENT_BASIC, batch);
    }
  }

  private List<String> dead() throws Exception {
    List<String> bodies = new ArrayList<>();
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      for (GetResponse dead = channel.basicGet(Topology.DEAD, true);
          dead != null;
          dead = channel.basicGet(Topology.DEAD, true)) {
        bodies.add(new String(dead.getBody(), StandardCharsets.UTF_8));
      }
    }
    return bodies;
  }

  @Test
  void many_small_messages_come_to_be_in_hand_while_there_is_room_and_few_in_a_calm()
      throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    CountDownLatch goesOn = new CountDownLatch(1);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            new Subscription(
                QUEUE,
                4,
                64,
                () -> 1,
                (body, again) -> {
                  redelivered.add(again);
                  awaitUninterruptibly(goesOn);
                }),
            meters);
    try {
      publishOneByOne(100);
      consumer.start();

      Eventually.within(SOON, () -> assertThat(redelivered).hasSize(64));
      assertThat(meters.get("pushplanet.intake.prefetch").gauge().value()).isEqualTo(64);
      assertThat(meters.get("pushplanet.intake.bytes").gauge().value()).isEqualTo(64 * 2);
      goesOn.countDown();
      Eventually.within(SOON, () -> assertThat(consumers()).isEqualTo(1));
      publishOneByOne(1);

      Eventually.within(SOON, () -> assertThat(redelivered).hasSize(101));
      assertThat(redelivered).containsOnly(false);
    } finally {
      goesOn.countDown();
      consumer.stop();
    }
    assertThat(depth(QUEUE)).isZero();
    assertThat(meters.get("pushplanet.intake.bytes").gauge().value()).isZero();
  }

  @Test
  void of_large_messages_behind_many_small_ones_few_are_in_hand() throws Exception {
    int large = 1_000_000;
    CountDownLatch smallGoOn = new CountDownLatch(1);
    CountDownLatch largeGoOn = new CountDownLatch(1);
    AtomicInteger small = new AtomicInteger();
    Queue<Double> inHand = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            new Subscription(
                QUEUE,
                4,
                64,
                () -> 1,
                (body, again) -> {
                  if (body.length < large) {
                    small.incrementAndGet();
                    awaitUninterruptibly(smallGoOn);
                  } else {
                    inHand.add(meters.get("pushplanet.intake.bytes").gauge().value());
                    awaitUninterruptibly(largeGoOn);
                  }
                }),
            meters);
    try {
      publishOneByOne(64);
      consumer.start();
      Eventually.within(SOON, () -> assertThat(small).hasValue(64));
      publish(60, new byte[large]);
      smallGoOn.countDown();

      Eventually.within(
          SOON,
          () -> assertThat(meters.get("pushplanet.intake.prefetch").gauge().value()).isEqualTo(4));
      largeGoOn.countDown();
      // Those that nobody took come again.
      Eventually.within(SOON, () -> assertThat(inHand).hasSize(60));
    } finally {
      smallGoOn.countDown();
      largeGoOn.countDown();
      consumer.stop();
    }
    assertThat(inHand).allMatch(bytes -> bytes <= Window.MOST_BYTES + 4 * large);
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void a_stop_leaves_to_others_at_once_what_is_not_begun() throws Exception {
    Queue<CountDownLatch> begun = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer((body, again) -> {
          CountDownLatch goesOn = new CountDownLatch(1);
          begun.add(goesOn);
          awaitUninterruptibly(goesOn);
        });
    publishOneByOne(10);
    consumer.start();
    Eventually.within(SOON, () -> assertThat(begun).hasSize(4));
    Thread stops = Thread.ofPlatform().start(consumer::stop);
    Queue<GetResponse> others = new ConcurrentLinkedQueue<>();
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      Eventually.within(SOON, () -> assertThat(consumer.isRunning()).isFalse());
      // Its answer makes room for another one.
      begun.remove().countDown();
      Eventually.within(
          SOON,
          () -> {
            for (GetResponse waiting = channel.basicGet(QUEUE, true);
                waiting != null;
                waiting = channel.basicGet(QUEUE, true)) {
              others.add(waiting);
            }
            assertThat(others).hasSize(6);
          });
    } finally {
      begun.forEach(CountDownLatch::countDown);
      stops.join();
    }

    assertThat(depth(QUEUE)).isZero();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("never released");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void publishOneByOne(int messages) throws Exception {
    publish(messages, new byte[] {'[', ']'});
  }

  private void publish(int messages, byte[] body) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      for (int i = 0; i < messages; i++) {
        channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_PERSISTENT_BASIC, body);
      }
      channel.waitForConfirmsOrDie(SOON.toMillis());
    }
  }

  private long consumers() throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return channel.consumerCount(QUEUE);
    }
  }

  private QueueConsumer consumer(BatchHandler handler) {
    return consumer(servers.connections(), handler);
  }

  private QueueConsumer consumer(ConnectionFactory connections, BatchHandler handler) {
    return consumer(connections, handler, new SimpleMeterRegistry());
  }

  private QueueConsumer consumer(
      ConnectionFactory connections, BatchHandler handler, SimpleMeterRegistry meters) {
    return consumer(connections, new Subscription(QUEUE, 4, handler), meters);
  }

  private QueueConsumer consumer(
      ConnectionFactory connections, Subscription subscription, SimpleMeterRegistry meters) {
    return new QueueConsumer(
        connections,
        "test",
        List.of(subscription),
        resting::get,
        new DeadLetters(servers.connections()),
        new Random(1),
        meters);
  }

  private long depth(String queue) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return channel.messageCount(queue);
    }
  }
}
