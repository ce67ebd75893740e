package io.pushplanet.gateway.intake;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.Eventually;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// How many messages a queue has in hand.
class PrefetchIT extends IntakeScene {
  @Test
  void the_prefetch_grows_with_small_messages_and_shrinks_in_a_calm() throws Exception {
    Queue<Boolean> redelivered = new ConcurrentLinkedQueue<>();
    CountDownLatch goesOn = new CountDownLatch(1);
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        widening(
            taking((body, again) -> {
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
  void tickets_keep_the_queues_order_while_the_window_grows() throws Exception {
    int many = 600;
    Queue<Integer> inOrder = new ConcurrentLinkedQueue<>();
    CountDownLatch wide = new CountDownLatch(200);
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            new Subscription(
                QUEUE,
                4,
                256,
                () -> 1,
                (body, _, ticket) -> {
                  try {
                    assertThat(ticket.await(SOON)).isTrue();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  inOrder.add(Integer.valueOf(new String(body, StandardCharsets.US_ASCII)));
                  ticket.pass();
                  wide.countDown();
                  awaitUninterruptibly(wide);
                  return List.of();
                }),
            new SimpleMeterRegistry());
    try {
      publish(IntStream.range(0, many).mapToObj(PrefetchIT::number).toList());
      consumer.start();

      Eventually.within(SOON, () -> assertThat(inOrder).hasSize(many));
      assertThat(inOrder).containsExactlyElementsOf(IntStream.range(0, many).boxed().toList());
    } finally {
      IntStream.range(0, many).forEach(_ -> wide.countDown());
      consumer.stop();
    }
  }

  private static byte[] number(int number) {
    return Integer.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void messages_acknowledged_while_the_window_shrinks_do_not_come_again() throws Exception {
    int many = 2_000;
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    AtomicInteger room = new AtomicInteger(1);
    AtomicInteger handled = new AtomicInteger();
    Queue<String> again = new ConcurrentLinkedQueue<>();
    CountDownLatch goesOn = new CountDownLatch(1);
    QueueConsumer consumer =
        consumer(
            servers.connections(),
            new Subscription(
                QUEUE,
                4,
                many,
                room::get,
                (body, redelivered, _) -> {
                  handled.incrementAndGet();
                  if (redelivered) {
                    again.add(new String(body, StandardCharsets.US_ASCII));
                  }
                  awaitUninterruptibly(goesOn);
                  return List.of();
                }),
            meters);
    try {
      publish(IntStream.range(0, many).mapToObj(PrefetchIT::number).toList());
      consumer.start();
      Eventually.within(SOON, () -> assertThat(handled).hasValue(many));
      room.set(-many);
      Eventually.within(
          SOON,
          () -> assertThat(meters.get("pushplanet.intake.prefetch").gauge().value()).isEqualTo(4));
      goesOn.countDown();
      // Messages on their way to a cancelled consumer may come again.
      Eventually.within(SOON, () -> assertThat(consumers()).isEqualTo(1));
      // Behind all of them, and behind any that would come again.
      publish(1, number(many));
      Eventually.within(SOON, () -> assertThat(handled).hasValueGreaterThan(many));
    } finally {
      goesOn.countDown();
      consumer.stop();
    }
    assertThat(again).isEmpty();
    assertThat(handled).hasValue(many + 1);
    assertThat(depth(QUEUE)).isZero();
  }

  @Test
  void few_large_messages_are_in_hand_after_many_small_ones() throws Exception {
    int large = 1_000_000;
    CountDownLatch smallGoOn = new CountDownLatch(1);
    CountDownLatch largeGoOn = new CountDownLatch(1);
    AtomicInteger small = new AtomicInteger();
    Queue<Double> inHand = new ConcurrentLinkedQueue<>();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    QueueConsumer consumer =
        widening(
            taking((body, again) -> {
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
      // The refused messages come again.
      Eventually.within(SOON, () -> assertThat(inHand).hasSize(60));
    } finally {
      smallGoOn.countDown();
      largeGoOn.countDown();
      consumer.stop();
    }
    assertThat(inHand).allMatch(bytes -> bytes <= PrefetchWindow.LAST_BYTES + 4 * large);
    assertThat(depth(QUEUE)).isZero();
  }

  /// From 4 messages in hand to 64, always with room for more recipients.
  private QueueConsumer widening(BatchHandler handler, SimpleMeterRegistry meters) {
    return consumer(
        servers.connections(), new Subscription(QUEUE, 4, 64, () -> 1, handler), meters);
  }

  private long consumers() throws Exception {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      return channel.consumerCount(QUEUE);
    }
  }
}
