package io.pushplanet.gateway.statistics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.wire.WireForm;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gathers the events of many AMQP messages into one transaction. [#take] is called once per AMQP message, each on a thread of
/// its own, and returns when its events are written. Several threads write, each always the same messages, so that they do
/// not meet in a row of `messages` or `deliveries`. Bounded by the prefetch of `push.events`. Thread-safe.
public final class StatisticsIntake implements AutoCloseable {
  /// How long a receipt may be ahead of its delivery's row; after that it is taken for made up and dropped.
  static final Duration RECEIPT_PATIENCE = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(StatisticsIntake.class);
  private static final Duration LONGEST_WRITE = Duration.ofSeconds(60);

  private final StatisticsWriter writer;
  private final Clock clock;
  private final Duration gather;
  private final int mostEvents;
  private final int prefetch;
  private final List<BlockingQueue<Batch>> waiting;
  private final List<Thread> threads;
  private final Timer writes;
  private final DistributionSummary sizes;
  private final Counter droppedReceipts;

  private record Batch(List<DeliveryEvent> events, CompletableFuture<Boolean> written) {}

  /// A receipt came before its delivery's row: the message is handed out again shortly.
  static final class ReceiptTooEarly extends RuntimeException {
    private static final long serialVersionUID = 1;

    ReceiptTooEarly() {
      super("a receipt is ahead of its delivery", null, false, false);
    }
  }

  /// @param writers threads that write, at most as many as the database has connections for
  /// @param gather how long events may wait for others
  /// @param mostEvents per transaction
  /// @param prefetch of `push.events`: so many batches can wait
  public StatisticsIntake(
      StatisticsWriter writer,
      Clock clock,
      int writers,
      Duration gather,
      int mostEvents,
      int prefetch,
      MeterRegistry meters) {
    this.writer = writer;
    this.clock = clock;
    this.gather = gather;
    this.mostEvents = mostEvents;
    this.prefetch = prefetch;
    this.writes =
        Timer.builder("pushplanet.statistics.write").publishPercentileHistogram().register(meters);
    this.sizes = meters.summary("pushplanet.statistics.events");
    this.droppedReceipts = meters.counter("pushplanet.statistics.receipts.dropped");
    this.waiting =
        Stream.<BlockingQueue<Batch>>generate(() -> new ArrayBlockingQueue<>(prefetch))
            .limit(writers)
            .toList();
    this.threads =
        waiting.stream()
            .map(mine -> Thread.ofPlatform().name("statistics").daemon(true).start(() -> run(mine)))
            .toList();
  }

  /// Writes the events of one AMQP message; acknowledge it afterwards.
  ///
  /// @param body a batch of [DeliveryEvent] in wire form
  /// @throws io.pushplanet.common.wire.MalformedWire when it is not
  /// @throws RuntimeException when it was not written: hand it out again
  public void take(byte[] body) {
    List<Batch> parts = new ArrayList<>();
    try {
      for (var part : byWriter(WireForm.readBatch(body, DeliveryEvent.class)).entrySet()) {
        Batch batch = new Batch(part.getValue(), new CompletableFuture<>());
        parts.add(batch);
        if (!waiting
            .get(part.getKey())
            .offer(batch, LONGEST_WRITE.toMillis(), TimeUnit.MILLISECONDS)) {
          throw new IllegalStateException("MySQL does not keep up with the events");
        }
      }
      boolean early = false;
      for (Batch batch : parts) {
        early |= !batch.written().get(LONGEST_WRITE.toMillis(), TimeUnit.MILLISECONDS);
      }
      if (early) {
        throw new ReceiptTooEarly();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("the events were not written: " + e.getCause(), e.getCause());
    } catch (TimeoutException e) {
      throw new IllegalStateException("the events were not written within " + LONGEST_WRITE, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while writing events", e);
    }
  }

  private Map<Integer, List<DeliveryEvent>> byWriter(List<DeliveryEvent> events) {
    Map<Integer, List<DeliveryEvent>> parts = new TreeMap<>();
    for (DeliveryEvent event : events) {
      int hash =
          switch (event) {
            case DeliveryEvent.Accepted accepted -> accepted.message().hashCode();
            case DeliveryEvent.Expanded expanded -> expanded.message().hashCode();
            case DeliveryEvent.Attempted attempted -> attempted.message().hashCode();
            case DeliveryEvent.Ended ended -> ended.message().hashCode();
            case DeliveryEvent.Receipt receipt -> receipt.message().hashCode();
            case DeliveryEvent.Uplink uplink -> uplink.device().hashCode();
          };
      parts.computeIfAbsent(Math.floorMod(hash, waiting.size()), _ -> new ArrayList<>()).add(event);
    }
    return parts;
  }

  @Override
  public void close() {
    threads.forEach(Thread::interrupt);
  }

  private void run(BlockingQueue<Batch> mine) {
    @Nullable Batch next = null;
    try {
      while (!Thread.currentThread().isInterrupted()) {
        List<Batch> bulk = new ArrayList<>();
        next = gather(mine, next == null ? mine.take() : next, bulk);
        write(bulk);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// That a message was accepted and what came of it, both told within this time, are written as one: half the work.
  ///
  /// @return what did not fit any more
  private @Nullable Batch gather(BlockingQueue<Batch> mine, Batch first, List<Batch> bulk)
      throws InterruptedException {
    long until = System.nanoTime() + gather.toNanos();
    int events = 0;
    Batch next = first;
    while (next != null) {
      if (!bulk.isEmpty() && events + next.events().size() > mostEvents) {
        return next;
      }
      bulk.add(next);
      events += next.events().size();
      // With all of the prefetch in hand nothing more can come.
      long wait = bulk.size() < prefetch ? until - System.nanoTime() : 0;
      next = mine.poll(wait, TimeUnit.NANOSECONDS);
    }
    return null;
  }

  private void write(List<Batch> bulk) {
    List<DeliveryEvent> events = bulk.stream().flatMap(batch -> batch.events().stream()).toList();
    sizes.record(events.size());
    try {
      Set<DeliveryEvent> early = writes.record(() -> tooEarly(writer.write(events)));
      bulk.forEach(
          batch -> batch.written().complete(batch.events().stream().noneMatch(early::contains)));
    } catch (RuntimeException e) {
      LOG.warn(
          "event=statistics_write_failed events={} reason=\"{}\"", events.size(), e.toString());
      if (bulk.size() == 1) {
        bulk.getFirst().written().completeExceptionally(e);
        return;
      }
      // One batch that cannot be written must not hold up its neighbours.
      bulk.forEach(batch -> write(List.of(batch)));
    }
  }

  private Set<DeliveryEvent> tooEarly(List<DeliveryEvent.Receipt> withoutRow) {
    Set<DeliveryEvent> early = new HashSet<>();
    for (DeliveryEvent.Receipt receipt : withoutRow) {
      if (receipt.at().plus(RECEIPT_PATIENCE).isAfter(clock.instant())) {
        early.add(receipt);
      } else {
        droppedReceipts.increment();
      }
    }
    return early;
  }
}
