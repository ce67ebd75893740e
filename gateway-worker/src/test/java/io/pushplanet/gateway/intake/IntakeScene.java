package io.pushplanet.gateway.intake;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.MessageProperties;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.gateway.RealServers;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// A real broker, a queue of it, and consumers, for tests of the intake.
abstract class IntakeScene {
  static final String QUEUE = "push.webpush.normal";
  static final Duration SOON = Duration.ofSeconds(60);

  final AtomicBoolean resting = new AtomicBoolean();
  RealServers servers;

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
  }

  @AfterEach
  void close() {
    servers.close();
  }

  QueueConsumer consumer(BatchHandler handler) {
    return consumer(servers.connections(), handler);
  }

  QueueConsumer consumer(ConnectionFactory connections, BatchHandler handler) {
    return consumer(connections, handler, new SimpleMeterRegistry());
  }

  QueueConsumer consumer(
      ConnectionFactory connections, BatchHandler handler, SimpleMeterRegistry meters) {
    return consumer(connections, new Subscription(QUEUE, 4, handler), meters);
  }

  QueueConsumer consumer(
      ConnectionFactory connections, Subscription subscription, SimpleMeterRegistry meters) {
    return new QueueConsumer(
        connections,
        "test",
        List.of(subscription),
        resting::get,
        new DeadLetters(servers.connections(), Clock.systemUTC(), meters),
        new Random(1),
        meters);
  }

  /// A handler that can handle every item.
  static BatchHandler taking(BiConsumer<byte[], Boolean> takes) {
    return (body, redelivered, _) -> {
      takes.accept(body, redelivered);
      return List.of();
    };
  }

  void publishOneByOne(int messages) throws Exception {
    publish(messages, new byte[] {'[', ']'});
  }

  void publish(int messages, byte[] body) throws Exception {
    publish(Collections.nCopies(messages, body));
  }

  void publish(List<byte[]> bodies) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      for (byte[] body : bodies) {
        channel.basicPublish("", QUEUE, MessageProperties.MINIMAL_PERSISTENT_BASIC, body);
      }
      channel.waitForConfirmsOrDie(SOON.toMillis());
    }
  }

  long depth(String queue) throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return channel.messageCount(queue);
    }
  }

  static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      if (!latch.await(60, TimeUnit.SECONDS)) {
        throw new IllegalStateException("never released");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
