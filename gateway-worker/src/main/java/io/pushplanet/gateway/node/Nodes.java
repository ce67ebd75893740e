package io.pushplanet.gateway.node;

import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.RemovalCause;
import com.github.benmanes.caffeine.cache.Scheduler;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.order.Ticket;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.context.SmartLifecycle;

/// The connection managers as the gateway sees them: frames out, outcomes back. For each node and
/// priority, all frames share one Paho connection, and leave in the order in which they were
/// queued. A worker that stops waits for answers only a little longer. Thread-safe.
public final class Nodes implements SmartLifecycle, AutoCloseable {
  private static final String WORKER_STOPS = "worker_stops";

  /// A node that takes longer for an acknowledgement is given up.
  private static final Duration ACKNOWLEDGED = Duration.ofSeconds(5);

  /// A connection that no frame used for so long is closed: its node may be gone.
  private static final Duration UNUSED = Duration.ofMinutes(10);

  /// A worker that stops goes on sending to nodes and waiting for answers for so long, which is how
  /// long a message waits by default. After that and [#ACKNOWLEDGED] the outcomes are durable
  /// before the worker's consumers leave the broker (`InHand`). Otherwise a whole batch would be
  /// handed out again for one silent device or node.
  private static final Duration LAST_ANSWERS = Duration.ofSeconds(6);

  private final NodeLeases leases;
  private final Clock clock;
  private final LongSupplier nanoTime;
  private final LoadingCache<Key, NodeSender> senders;
  private final AtomicLong frames = new AtomicLong();
  private final Map<NodeOutcomes.Result, Timer> answerTimes =
      new EnumMap<>(NodeOutcomes.Result.class);
  private final Set<PendingFrame> pending = ConcurrentHashMap.newKeySet();
  private volatile boolean running;
  private volatile boolean abandoned;

  /// High priority never waits behind normal.
  private record Key(NodeAddress address, Priority priority) {}

  /// @param directory reads the nodes with a current lease
  /// @param nanoTime never set, unlike the clock
  public Nodes(
      Supplier<List<NodeLease>> directory,
      NodeSettings settings,
      Clock clock,
      LongSupplier nanoTime,
      MeterRegistry meters) {
    this.leases = new NodeLeases(directory, nanoTime);
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.senders =
        Caffeine.newBuilder()
            .expireAfterAccess(UNUSED)
            .ticker(nanoTime::getAsLong)
            .scheduler(Scheduler.systemScheduler())
            .removalListener((@Nullable Key _, @Nullable NodeSender unused, RemovalCause _) -> {
              if (unused != null) {
                unused.close();
              }
            })
            .build(key -> new NodeSender(key.address(), settings, nanoTime, ACKNOWLEDGED));
    for (NodeOutcomes.Result result : NodeOutcomes.Result.values()) {
      answerTimes.put(
          result,
          Timer.builder("pushplanet.node.answer")
              .description("from handing a frame to a node to its answer for one device")
              .tag("result", result.name().toLowerCase(Locale.ROOT))
              .publishPercentileHistogram()
              .register(meters));
    }
    Gauge.builder("pushplanet.node.connections", senders, Nodes::open).register(meters);
  }

  /// A frame's place in the order of its node. It must be sent with, or closed: the frames behind
  /// it wait for that.
  public static final class SendSlot implements AutoCloseable {
    private final @Nullable NodeSender sender;
    private final Ticket ticket;

    /// @param sender null where the node has no lease
    private SendSlot(@Nullable NodeSender sender) {
      this.sender = sender;
      this.ticket = sender == null ? Ticket.ofNoOrder() : sender.ticket();
    }

    @Override
    public void close() {
      ticket.pass();
    }
  }

  /// Queues a frame behind those of its priority that were queued before.
  public SendSlot queue(NodeId node, Priority priority) {
    return new SendSlot(leases.of(node).map(lease -> sender(lease, priority)).orElse(null));
  }

  NodeSender sender(NodeLease lease, Priority priority) {
    return senders.get(new Key(NodeAddress.of(lease), priority));
  }

  /// Sends one frame and passes its answers on as they come, on the calling thread. Returns when
  /// every target has one, at the latest shortly after `answerBy`. A target that the node did not
  /// answer for, also because the node is gone, gets `timeout`; with a node without a lease,
  /// `not_here`.
  public void deliver(
      SendSlot slot,
      List<NodeFrame.Message> messages,
      List<NodeFrame.Target> targets,
      Instant answerBy,
      Consumer<List<NodeOutcomes.Outcome>> answers) {
    exchange(
        slot,
        NodeFrame.DELIVER_TOPIC,
        number -> new NodeFrame(number, answerBy, messages, targets),
        targets.size(),
        answerBy,
        some -> answers.accept(some.stream().map(outcome -> believed(targets, outcome)).toList()));
  }

  /// Like [#deliver], for one message to many devices of an app.
  public void broadcast(
      SendSlot slot,
      NodeFrame.Message message,
      AppId app,
      List<DeviceId> devices,
      List<Long> epochs,
      Instant answerBy,
      Consumer<List<NodeOutcomes.Outcome>> answers) {
    exchange(
        slot,
        NodeBroadcast.TOPIC,
        number -> new NodeBroadcast(number, answerBy, message, app, devices, epochs),
        devices.size(),
        answerBy,
        answers);
  }

  private void exchange(
      SendSlot slot,
      String topic,
      Function<String, Object> form,
      int targets,
      Instant answerBy,
      Consumer<List<NodeOutcomes.Outcome>> answers) {
    NodeSender sender = slot.sender;
    if (sender == null) {
      answers.accept(gone(targets));
      return;
    }
    String number = Long.toString(frames.incrementAndGet());
    byte[] body = WireForm.write(form.apply(number));
    PendingFrame frame = new PendingFrame(targets);
    pending.add(frame);
    long sentNanos = nanoTime.getAsLong();
    // The node answers by the deadline; the answer needs a moment to come back.
    Duration answerWithin = Duration.between(clock.instant(), answerBy.plusMillis(500));
    long endNanos = sentNanos + answerWithin.toNanos();
    Consumer<List<NodeOutcomes.Outcome>> timed =
        some -> {
          time(some, sentNanos);
          answers.accept(some);
        };
    String silence;
    try {
      NodeConnection connection =
          send(
              slot,
              sender,
              until(endNanos),
              (some, atMost) -> some.send(topic, number, body, frame, atMost));
      silence = handOn(connection, number, frame, endNanos, timed);
    } catch (NodeUnreachable e) {
      silence = e.word();
    } finally {
      pending.remove(frame);
    }
    List<NodeOutcomes.Outcome> silent = frame.unanswered(silence);
    if (!silent.isEmpty()) {
      timed.accept(silent);
    }
  }

  /// Passes answers on until every target has one, at the latest until the deadline.
  ///
  /// @return why a target may be left without an answer
  private String handOn(
      NodeConnection connection,
      String number,
      PendingFrame frame,
      long endNanos,
      Consumer<List<NodeOutcomes.Outcome>> answers) {
    try {
      List<NodeOutcomes.Outcome> some = frame.next(until(endNanos));
      while (!some.isEmpty()) {
        answers.accept(some);
        some = frame.next(until(endNanos));
      }
      return abandoned ? WORKER_STOPS : "no_answer";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "interrupted";
    } finally {
      connection.forget(number);
    }
  }

  /// Sends nothing once the worker no longer waits for answers.
  private NodeConnection send(
      SendSlot slot, NodeSender sender, Duration atMost, NodeSender.Publish publish) {
    throwIfStopped();
    return sender.send(
        slot.ticket,
        atMost,
        (connection, room) -> {
          throwIfStopped();
          return publish.on(connection, room);
        });
  }

  private void throwIfStopped() {
    if (abandoned) {
      throw new NodeUnreachable(WORKER_STOPS);
    }
  }

  /// A node that has lost a device must not settle a message for it.
  private static NodeOutcomes.Outcome believed(
      List<NodeFrame.Target> targets, NodeOutcomes.Outcome outcome) {
    return Fencing.settles(targets.get(outcome.target()).epoch(), outcome.epoch())
        ? outcome
        : new NodeOutcomes.Outcome(outcome.target(), NodeOutcomes.Result.TIMEOUT, "fenced");
  }

  private Duration until(long endNanos) {
    return Duration.ofNanos(endNanos - nanoTime.getAsLong());
  }

  private void time(List<NodeOutcomes.Outcome> outcomes, long sentNanos) {
    long nanos = nanoTime.getAsLong() - sentNanos;
    for (NodeOutcomes.Outcome outcome : outcomes) {
      Timer timer = answerTimes.get(outcome.result());
      if (timer != null) {
        timer.record(nanos, TimeUnit.NANOSECONDS);
      }
    }
  }

  /// Asks a node to look into the inboxes of devices that may be connected.
  ///
  /// @return false when the request may not have reached the node: ask again. A node that is known
  ///     to have no lease has no devices; they are drained where they connect next, or once their
  ///     node is back in the directory
  public boolean drain(NodeId node, Priority priority, NodeFrame.Drain drain) {
    try (SendSlot slot = queue(node, priority)) {
      NodeSender sender = slot.sender;
      if (sender == null) {
        return !leases.areOld();
      }
      byte[] body = WireForm.write(drain);
      send(slot, sender, ACKNOWLEDGED, (connection, atMost) -> connection.drain(body, atMost));
      return true;
    } catch (NodeUnreachable e) {
      return false;
    }
  }

  @Override
  public void start() {
    running = true;
  }

  @Override
  public void stop() {
    running = false;
    Thread.ofVirtual()
        .name("last-answers")
        .start(() -> {
          try {
            TimeUnit.NANOSECONDS.sleep(LAST_ANSWERS.toNanos());
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          abandonAll();
        });
  }

  @Override
  public boolean isRunning() {
    return running;
  }

  /// From now on every target without an answer counts as silent, and nothing more is sent.
  void abandonAll() {
    abandoned = true;
    pending.forEach(PendingFrame::abandon);
  }

  private static double open(LoadingCache<Key, NodeSender> senders) {
    return senders.asMap().values().stream().filter(NodeSender::isOpen).count();
  }

  @Override
  public void close() {
    senders.asMap().values().forEach(NodeSender::close);
  }

  private static List<NodeOutcomes.Outcome> gone(int targets) {
    return IntStream.range(0, targets)
        .mapToObj(
            target -> new NodeOutcomes.Outcome(target, NodeOutcomes.Result.NOT_HERE, "node_gone"))
        .toList();
  }
}
