package io.pushplanet.gateway.fanout;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.intake.BatchHandler;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.order.Ticket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/// Handles the orders for open audiences, so that no app's broadcasts delay another app's
/// ([why so](../../../../../../../../docs/adr/0040-apps-take-turns-at-the-fan-out.md)). A worker
/// has many more orders in hand than it expands: each waits for its app's turn ([Turns]), and then
/// one step is done. Thread-safe.
final class FanoutOrders {
  /// How long an AMQP message is in hand besides its steps. RabbitMQ closes a channel whose message
  /// is unanswered for 30 minutes
  /// (https://www.rabbitmq.com/docs/consumers#acknowledgement-timeout), and other workers may have
  /// free turns.
  static final Duration LONGEST_WAIT = Duration.ofSeconds(30);

  /// AMQP messages in hand of each priority, from the least number on. Only apps with an order in
  /// hand take turns, so they must be more than one app's broadcasts. An order is some KB, and the
  /// window bounds the bytes ([Subscription]); a waiting order is a parked virtual thread.
  private static final int MAX_IN_HAND = 1_024;

  private static final int LEAST_IN_HAND = 32;

  /// After so many failures all further steps of an AMQP message would fail as well.
  static final int MAX_FAILED = 3;

  private final Map<Priority, Turns> byPriority = new EnumMap<>(Priority.class);
  private final Step step;
  private final FanoutSteps steps;
  private final LaneDepths depths;
  private final QuotaQueues quotas;
  private final LanePublisher lanes;
  private final Duration longestWait;

  /// As [Fanout#expand].
  interface Step {
    Map<String, Integer> expand(FanoutOrder order, boolean again, int mostOverFcm);
  }

  /// @param mostSteps of each priority, side by side
  /// @param longestWait see [#LONGEST_WAIT]
  FanoutOrders(
      Step step,
      FanoutSteps steps,
      LaneDepths depths,
      QuotaQueues quotas,
      LanePublisher lanes,
      int mostSteps,
      Duration longestWait,
      MeterRegistry meters) {
    this.step = step;
    this.steps = steps;
    this.depths = depths;
    this.quotas = quotas;
    this.lanes = lanes;
    this.longestWait = longestWait;
    for (Priority priority : Priority.values()) {
      Turns some = new Turns(mostSteps, System::nanoTime);
      byPriority.put(priority, some);
      Gauge.builder("pushplanet.fanout.waiting", some, Turns::waiting)
          .description("orders for topics, tags and everyone that wait for their app's turn")
          .tag("queue", Topology.fanout(priority))
          .register(meters);
    }
  }

  List<Subscription> subscriptions() {
    List<Subscription> queues = new ArrayList<>();
    byPriority.forEach((priority, some) -> {
      String queue = Topology.fanout(priority);
      queues.add(
          new Subscription(
              queue, LEAST_IN_HAND, MAX_IN_HAND, () -> 1, new Handler(priority, some)));
    });
    return queues;
  }

  /// Lets orders go on whose lanes and quotas are no longer full. To be called several times a
  /// second.
  void look() {
    byPriority.values().forEach(some -> look(some, some.awaited()));
  }

  private void look(Turns some, Set<Passage> filled) {
    Set<String> fullLanes =
        depths.fullOf(
            filled.stream()
                .filter(Passage.Lane.class::isInstance)
                .map(Passage.Lane.class::cast)
                .map(Passage.Lane::queue)
                .collect(Collectors.toSet()));
    some.looked(
        filled,
        filled.stream()
            .filter(passage ->
                switch (passage) {
                  case Passage.Lane(String queue) -> fullLanes.contains(queue);
                  case Passage.Quota quota -> quotas.isFull(quota);
                })
            .collect(Collectors.toSet()));
  }

  /// Of one queue.
  private final class Handler implements BatchHandler {
    private final String queue;

    /// The only one whose vendor has a quota that the workers keep.
    private final String fcmLane;

    private final Turns turns;

    Handler(Priority priority, Turns turns) {
      this.queue = Topology.fanout(priority);
      this.fcmLane = Topology.lane(Channel.FCM, priority);
      this.turns = turns;
    }

    @Override
    public void stopping() {
      turns.stop();
    }

    @Override
    public List<DeadItem> handle(byte[] body, boolean redelivered, Ticket ticket) {
      List<DeadItem> dead = new ArrayList<>();
      putOff(
          takeAll(WireForm.readBatch(body, FanoutOrder.class, dead::add), redelivered),
          redelivered);
      return dead;
    }

    /// Orders that share an AMQP message may be several apps', so they do not wait for each other,
    /// and a failed step holds none of them back. The message is handed out again after it, and
    /// the finished steps are left out then.
    ///
    /// @return those that had no turn in time
    private List<FanoutOrder> takeAll(List<FanoutOrder> orders, boolean redelivered) {
      long endNanos = System.nanoTime() + longestWait.toNanos();
      AtomicInteger failed = new AtomicInteger();
      List<Future<Boolean>> taken = new ArrayList<>();
      try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
        for (FanoutOrder order : orders) {
          taken.add(threads.submit(() -> take(order, redelivered, endNanos, failed)));
        }
      }
      List<FanoutOrder> late = new ArrayList<>();
      for (int i = 0; i < orders.size(); i++) {
        Future<Boolean> one = taken.get(i);
        if (one.state() == Future.State.FAILED) {
          // As it is, because its class says whether the fault is ours (PoisonCounter).
          Throwable why = one.exceptionNow();
          throw why instanceof RuntimeException itself
              ? itself
              : new IllegalStateException("an order failed: " + why, why);
        }
        if (!one.resultNow()) {
          late.add(orders.get(i));
        }
      }
      return late;
    }

    /// The turn comes before the step begins, so that an order that waits does not count as begun.
    ///
    /// @return whether the order had a turn
    private boolean take(
        FanoutOrder order, boolean redelivered, long endNanos, AtomicInteger failed)
        throws InterruptedException {
      AppId app = order.push().app();
      if (!turns.acquire(app, Duration.ofNanos(endNanos - System.nanoTime()))) {
        return false;
      }
      var quota = new Passage.Quota(app, fcmLane);
      Set<Passage> filled = new HashSet<>();
      try {
        if (failed.get() < MAX_FAILED) {
          steps.take(
              order,
              redelivered,
              one ->
                  filled.addAll(
                      passages(quota, step.expand(one, redelivered, quotas.most(quota)))));
        }
        // The step's own passages are looked at now, so that the app's next order knows of them.
        look(turns, filled);
      } catch (RuntimeException | Error e) {
        failed.incrementAndGet();
        throw e;
      } finally {
        turns.release(app, filled);
      }
      return true;
    }

    /// A quota holds no other channel's messages back, so it counts only for an app that has FCM's
    /// alone.
    private Set<Passage> passages(Passage.Quota quota, Map<String, Integer> recipients) {
      Set<Passage> passages =
          recipients.keySet().stream().map(Passage.Lane::new).collect(Collectors.toSet());
      int overFcm = recipients.getOrDefault(fcmLane, 0);
      if (overFcm > 0 && recipients.size() == 1) {
        passages.add(quota);
        quotas.filled(quota, overFcm);
      }
      return passages;
    }

    /// Brings orders to the end of their queue, where other workers may take them. A copy does no
    /// harm, as [FanoutSteps] says.
    ///
    /// An order that was handed out before stays what it is: it may have begun at a worker that is
    /// gone, and under another name it would be left out as a copy.
    private void putOff(List<FanoutOrder> late, boolean redelivered) {
      if (late.isEmpty()) {
        return;
      }
      if (redelivered) {
        throw new IllegalStateException("no turn within " + longestWait);
      }
      lanes.publishAndWait(queue, late.stream().map(WireForm::write).toList());
    }
  }
}
