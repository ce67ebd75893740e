package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.http2.BlackHole;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.springframework.context.support.GenericApplicationContext;

class QueueConsumerIT extends IntakeScene {
  @Test
  void a_failed_message_is_handed_out_again_as_redelivered() throws Exception {
    expectHandedOutAgain(() -> {
      throw new IllegalStateException("MySQL is away");
    });
  }

  @Test
  void a_channel_that_the_broker_closes_is_opened_anew() throws Exception {
    Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer(
            watched(channels),
            taking((body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8))));
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

  /// appleboy/gorush#693: after ten hours in which nothing came, nothing is taken any more. A
  /// firewall forgets an idle connection and tells neither side.
  @Test
  void gorush_693_a_consumer_whose_idle_connection_died_silently_takes_what_comes_later()
      throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    try (BlackHole way = new BlackHole(servers.services().amqp().getPort())) {
      ConnectionFactory connections = new ConnectionFactory();
      connections.setUri(servers.services().amqp());
      connections.setHost("127.0.0.1");
      connections.setPort(way.port());
      connections.setAutomaticRecoveryEnabled(false);
      connections.setRequestedHeartbeat(1);
      QueueConsumer consumer =
          consumer(
              connections,
              taking((body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8))));
      consumer.start();
      Eventually.within(SOON, () -> assertThat(consumer.connected()).isTrue());
      int before = way.connections();

      way.swallow();
      servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));

      Eventually.within(SOON, () -> assertThat(consumed).containsExactly("[{}]"));
      assertThat(way.connections()).isGreaterThan(before);
      consumer.stop();
    }
  }

  @Test
  void a_message_whose_handler_ends_with_an_error_is_handed_out_again() throws Exception {
    expectHandedOutAgain(() -> {
      throw new NoClassDefFoundError("io/pushplanet/gateway/Gone");
    });
  }

  private void expectHandedOutAgain(Runnable fails) throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer(
            taking((body, again) -> {
              redelivered.add(again);
              if (!again) {
                fails.run();
              }
            }));
    servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));

    consumer.start();

    Eventually.within(SOON, () -> assertThat(redelivered).containsExactly(false, true));
    consumer.stop();
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void no_message_is_begun_while_its_outcome_could_not_be_published() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            taking((body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8))),
            meters);
    startResting(consumer, meters);
    assertThat(consumed).isEmpty();

    resting.set(false);

    Eventually.within(SOON, () -> assertThat(consumed).containsExactly("[{}]"));
    consumer.stop();
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void a_resting_message_that_is_handed_out_again_is_handled_once() throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    Queue<Channel> channels = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(watched(channels), taking((body, again) -> redelivered.add(again)), meters);
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
  void a_resting_message_is_given_back_at_a_stop() throws Exception {
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            taking((body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8))),
            meters);
    startResting(consumer, meters);

    consumer.stop();

    assertThat(meters.get("pushplanet.intake.in.hand").gauge().value()).isZero();
    assertThat(consumed).isEmpty();
    Eventually.within(SOON, () -> assertThat(depth(QUEUE)).isEqualTo(1));
  }

  /// Starts a resting consumer with one message in hand.
  private void startResting(QueueConsumer consumer, SimpleMeterRegistry meters) {
    resting.set(true);
    servers.lanes().publishAndWait(QUEUE, List.of("{}".getBytes(StandardCharsets.UTF_8)));
    consumer.start();
    Eventually.within(
        SOON,
        () -> assertThat(meters.get("pushplanet.intake.in.hand").gauge().value()).isEqualTo(1));
  }

  @Test
  void a_stop_hands_messages_that_are_not_begun_to_others_at_once() throws Exception {
    Queue<CountDownLatch> begun = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer(
            taking((body, again) -> {
              CountDownLatch goesOn = new CountDownLatch(1);
              begun.add(goesOn);
              awaitUninterruptibly(goesOn);
            }));
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

  @Test
  void a_stop_while_it_connects_leaves_no_connection() throws Exception {
    Queue<Connection> made = new ConcurrentLinkedQueue<>();
    AtomicReference<QueueConsumer> stopped = new AtomicReference<>();
    Queue<String> consumed = new ConcurrentLinkedQueue<>();
    QueueConsumer consumer =
        consumer(
            connections(connection -> {
              made.add(connection);
              stopped.get().stop();
              return connection;
            }),
            taking((body, again) -> consumed.add(new String(body, StandardCharsets.UTF_8))));
    stopped.set(consumer);
    publishOneByOne(1);

    consumer.start();

    Eventually.within(
        SOON, () -> assertThat(made).singleElement().matches(connection -> !connection.isOpen()));
    Eventually.within(SOON, () -> assertThat(depth(QUEUE)).isEqualTo(1));
    assertThat(consumed).isEmpty();
  }

  @Test
  void all_consumers_stop_taking_before_one_of_them_is_waited_for() throws Exception {
    Queue<Connection> made = new ConcurrentLinkedQueue<>();
    CountDownLatch begun = new CountDownLatch(2);
    CountDownLatch goesOn = new CountDownLatch(1);
    List<QueueConsumer> consumers = new ArrayList<>();
    GenericApplicationContext process = new GenericApplicationContext();
    for (String name : List.of("one", "other")) {
      QueueConsumer consumer =
          consumer(
              connections(connection -> {
                made.add(connection);
                return connection;
              }),
              new Subscription(
                  QUEUE,
                  1,
                  taking((body, again) -> {
                    begun.countDown();
                    awaitUninterruptibly(goesOn);
                  })),
              new SimpleMeterRegistry());
      consumers.add(consumer);
      process.registerBean(name, QueueConsumer.class, () -> consumer);
    }
    publishOneByOne(2);
    process.refresh();
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();

    Thread ends = Thread.ofPlatform().start(process::close);
    try {
      Eventually.within(SOON, () -> assertThat(consumers).noneMatch(QueueConsumer::isRunning));
      assertThat(made).as("what none has left yet").hasSize(2).allMatch(Connection::isOpen);
    } finally {
      goesOn.countDown();
      ends.join();
    }

    assertThat(made).noneMatch(Connection::isOpen);
    assertThat(depth(QUEUE)).isZero();
  }

  /// The same broker's connections, which report their channels.
  private ConnectionFactory watched(Queue<Channel> channels) throws Exception {
    return connections(connection ->
        (Connection)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Connection.class},
                (_, method, arguments) -> {
                  Object result = method.invoke(connection, arguments);
                  if (result instanceof Channel channel) {
                    channels.add(channel);
                  }
                  return result;
                }));
  }

  /// The same broker's connections, each passed through `made` first.
  private ConnectionFactory connections(UnaryOperator<Connection> made) throws Exception {
    ConnectionFactory connections =
        new ConnectionFactory() {
          @Override
          public Connection newConnection(String name) throws IOException, TimeoutException {
            return made.apply(super.newConnection(name));
          }
        };
    connections.setUri(servers.services().amqp());
    connections.setAutomaticRecoveryEnabled(false);
    return connections;
  }
}
