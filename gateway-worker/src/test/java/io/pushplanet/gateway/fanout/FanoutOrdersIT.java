package io.pushplanet.gateway.fanout;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.MessageProperties;
import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.fcm.FcmQuota;
import io.pushplanet.gateway.intake.BatchHandler;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.order.Tickets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataIntegrityViolationException;

/// Orders at a worker that does one step at a time, where a test does not say otherwise.
class FanoutOrdersIT {
  private static final String SHOP = "shop";
  private static final String BANK = "bank";
  private static final String ORDERS = Topology.fanout(Priority.HIGH);
  private static final String LANE = "push.apns.high";
  private static final String FCM_LANE = "push.fcm.high";
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final Duration LONG = Duration.ofMinutes(10);

  private final RealServers servers = RealServers.start();
  private final RedisClient client = RedisClient.create(servers.services().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final FanoutSteps steps = new FanoutSteps(redis, Clock.systemUTC());
  private final LaneDepths depths = new LaneDepths(servers.connections());
  private final LaterStore later = new LaterStore(servers.database());
  private final QuotaQueues quotas =
      new QuotaQueues(later, new FcmQuota(600_000), Clock.systemUTC(), System::nanoTime);
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  /// The messages whose steps were done or tried.
  private final List<MessageId> taken = new CopyOnWriteArrayList<>();

  /// Ends the steps that [#holdingFirst] holds.
  private final CountDownLatch goesOn = new CountDownLatch(1);

  @AfterEach
  void close() {
    goesOn.countDown();
    servers.sql().update("DELETE FROM later");
    depths.close();
    redis.close();
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
  }

  @Test
  void an_app_with_many_broadcasts_does_not_delay_anothers() throws Exception {
    List<FanoutOrder> backlog = Stream.generate(() -> order(SHOP)).limit(60).toList();
    FanoutOrder other = order(BANK);
    publishOneByOne(backlog);
    publishOneByOne(List.of(other));
    QueueConsumer consumer = consumer(orders(this::holdingFirst, 1, LONG));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(waiting()).isEqualTo(60));

    goesOn.countDown();

    Eventually.within(SOON, () -> assertThat(taken).hasSize(61));
    consumer.stop();
    assertThat(taken.subList(0, 3)).contains(other.push().id());
    assertThat(taken).containsAll(ids(backlog));
  }

  @Test
  void an_order_without_a_turn_is_published_again_and_done_once() throws Exception {
    List<FanoutOrder> all = Stream.generate(() -> order(SHOP)).limit(10).toList();
    publishOneByOne(all);
    QueueConsumer consumer = consumer(orders(this::holdingFirst, 1, Duration.ofMillis(100)));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(answered()).isGreaterThan(20));
    assertThat(taken).hasSize(1);

    goesOn.countDown();

    Eventually.within(SOON, () -> assertThat(taken).hasSize(10));
    consumer.stop();
    assertThat(taken).containsExactlyInAnyOrderElementsOf(ids(all));
    assertThat(servers.drain(ORDERS, FanoutOrder.class)).isEmpty();
  }

  /// Under another name it would be left out, because its step has begun at a worker that is gone.
  @Test
  void an_order_that_was_handed_out_before_is_given_back_and_not_published_again()
      throws Exception {
    BatchHandler handler = handler(orders(this::holdingFirst, 1, Duration.ofMillis(100)));
    CompletableFuture<Void> first = handling(handler, false, order(SHOP));
    Eventually.within(SOON, () -> assertThat(taken).hasSize(1));

    assertThatThrownBy(() -> handle(handler, true, order(SHOP)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("no turn");

    assertThat(servers.drain(ORDERS, FanoutOrder.class)).isEmpty();
    goesOn.countDown();
    first.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void a_full_lane_holds_the_next_step_back_until_it_is_drained() throws Exception {
    assumeTrue(servers.services().isRabbitMq(), "the embedded broker counts what is in hand");

    theNextStepWaits(
        (order, _, _) -> {
          taken.add(order.push().id());
          fillLane();
          return Map.of(LANE, 1);
        },
        () -> servers.drain(LANE, Object.class));
  }

  @Test
  void messages_that_wait_for_a_quota_hold_the_next_step_back_until_they_are_nearly_due()
      throws Exception {
    theNextStepWaits(
        fillingQuota(Map.of(FCM_LANE, 1)), () -> servers.sql().update("DELETE FROM later"));
  }

  /// Of the same app, and no other's first one.
  private void theNextStepWaits(FanoutOrders.Step filling, Callable<?> emptied) throws Exception {
    FanoutOrders orders = orders(filling, 1, LONG);
    BatchHandler handler = handler(orders);
    handle(handler, false, order(SHOP));
    CompletableFuture<Void> next = handling(handler, false, order(SHOP));
    Eventually.within(SOON, () -> assertThat(waiting()).isOne());
    orders.look();
    assertThat(waiting()).isOne();
    handle(handler, false, order(BANK));
    assertThat(taken).as("another app's first step").hasSize(2);

    emptied.call();

    Eventually.within(
        SOON,
        () -> {
          orders.look();
          assertThat(next).isCompleted();
        });
    assertThat(taken).hasSize(3);
  }

  @Test
  void a_quota_holds_no_messages_of_other_channels_back() {
    BatchHandler handler =
        handler(orders(fillingQuota(Map.of(FCM_LANE, 4_000, LANE, 1_000)), 1, LONG));
    handle(handler, false, order(SHOP));

    handle(handler, false, order(SHOP));

    assertThat(taken).hasSize(2);
  }

  /// A step whose messages wait for the quota.
  private FanoutOrders.Step fillingQuota(Map<String, Integer> recipients) {
    return (order, _, _) -> {
      taken.add(order.push().id());
      later.keep(
          List.of(
              new Later(Instant.now().plus(LONG), FCM_LANE, "project_quota_rest", order.push())));
      return recipients;
    };
  }

  @Test
  void orders_that_share_an_amqp_message_do_not_wait_for_each_other() throws Exception {
    BatchHandler handler = handler(orders(this::holdingFirst, 2, LONG));
    CompletableFuture<Void> both = handling(handler, false, order(SHOP), order(BANK));

    Eventually.within(SOON, () -> assertThat(taken).hasSize(2));

    assertThat(both).isNotDone();
    goesOn.countDown();
    both.get(SOON.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void an_order_that_waits_is_given_back_at_a_stop() throws Exception {
    List<FanoutOrder> two = List.of(order(SHOP), order(SHOP));
    publishOneByOne(two);
    QueueConsumer consumer = consumer(orders(this::holdingFirst, 1, LONG));
    consumer.start();
    Eventually.within(SOON, () -> assertThat(waiting()).isOne());

    Thread stops = Thread.ofPlatform().start(consumer::stop);

    Eventually.within(SOON, () -> assertThat(waiting()).isZero());
    goesOn.countDown();
    stops.join();
    assertThat(taken).hasSize(1);
    taken.addAll(ids(servers.drain(ORDERS, FanoutOrder.class)));
    assertThat(taken).containsExactlyInAnyOrderElementsOf(ids(two));
  }

  @Test
  void an_order_that_fails_keeps_no_neighbour_back() {
    FanoutOrder slow = order(SHOP);
    FanoutOrder other = order(BANK);
    BatchHandler handler =
        handler(
            orders(
                (order, _, _) -> {
                  if (order.push().id().equals(slow.push().id())) {
                    throw new DataIntegrityViolationException("for the test");
                  }
                  taken.add(order.push().id());
                  return Map.of();
                },
                1,
                LONG));

    for (boolean redelivered : List.of(false, true)) {
      assertThatThrownBy(() -> handle(handler, redelivered, slow, other))
          .isInstanceOf(DataIntegrityViolationException.class);
    }

    assertThat(taken).containsExactly(other.push().id());
  }

  @Test
  void where_all_orders_fail_not_all_are_tried() {
    FanoutOrder[] message =
        Stream.generate(() -> order(SHOP)).limit(10).toArray(FanoutOrder[]::new);
    BatchHandler handler =
        handler(
            orders(
                (order, _, _) -> {
                  taken.add(order.push().id());
                  throw new IllegalStateException("MySQL is away");
                },
                1,
                LONG));

    assertThatThrownBy(() -> handle(handler, false, message))
        .isInstanceOf(IllegalStateException.class);

    assertThat(taken).hasSize(FanoutOrders.MAX_FAILED);
  }

  /// A step that lasts until the test says so, if it is the first one.
  private Map<String, Integer> holdingFirst(FanoutOrder order, boolean again, int mostOverFcm) {
    taken.add(order.push().id());
    if (taken.getFirst().equals(order.push().id())) {
      try {
        assertThat(goesOn.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
    return Map.of();
  }

  private FanoutOrders orders(FanoutOrders.Step step, int mostSteps, Duration longestWait) {
    return new FanoutOrders(
        step, steps, depths, quotas, servers.lanes(), mostSteps, longestWait, meters);
  }

  private QueueConsumer consumer(FanoutOrders orders) {
    return new QueueConsumer(
        servers.connections(),
        "test",
        orders.subscriptions(),
        () -> false,
        new DeadLetters(servers.connections(), Clock.systemUTC(), meters),
        new Random(1),
        meters);
  }

  private static BatchHandler handler(FanoutOrders orders) {
    return orders.subscriptions().stream()
        .filter(subscription -> subscription.queue().equals(ORDERS))
        .findAny()
        .orElseThrow()
        .handler();
  }

  private static FanoutOrder order(String app) {
    return new FanoutOrder(aPush(Clock.systemUTC()).from(app).build(), new Audience.All(), null);
  }

  private static List<MessageId> ids(List<FanoutOrder> orders) {
    return orders.stream().map(order -> order.push().id()).toList();
  }

  private static void handle(BatchHandler handler, boolean redelivered, FanoutOrder... orders) {
    assertThat(
            handler.handle(
                WireForm.join(Stream.of(orders).map(WireForm::write).toList()),
                redelivered,
                new Tickets().take()))
        .isEmpty();
  }

  private static CompletableFuture<Void> handling(
      BatchHandler handler, boolean redelivered, FanoutOrder... orders) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            handle(handler, redelivered, orders);
            done.complete(null);
          } catch (Throwable e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  private int waiting() {
    return (int) meters.get("pushplanet.fanout.waiting").tag("queue", ORDERS).gauge().value();
  }

  private double answered() {
    return meters
        .get("pushplanet.intake.messages")
        .tag("queue", ORDERS)
        .tag("result", "done")
        .counter()
        .count();
  }

  private void fillLane() {
    publish(LANE, Collections.nCopies(LaneDepths.MAX_READY + 1, new byte[] {'[', ']'}));
  }

  private void publishOneByOne(List<FanoutOrder> orders) {
    List<byte[]> bodies = new ArrayList<>();
    orders.forEach(order -> bodies.add(WireForm.join(List.of(WireForm.write(order)))));
    publish(ORDERS, bodies);
  }

  private void publish(String queue, List<byte[]> bodies) {
    try (Connection connection = servers.connections().newConnection();
        Channel channel = connection.createChannel()) {
      channel.confirmSelect();
      for (byte[] body : bodies) {
        channel.basicPublish("", queue, MessageProperties.MINIMAL_PERSISTENT_BASIC, body);
      }
      channel.waitForConfirmsOrDie(SOON.toMillis());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
