package io.pushplanet.gateway.statistics;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.statistics.HeldEvents.Told;
import io.pushplanet.gateway.statistics.RefusedEvents.Refusal;
import io.pushplanet.gateway.statistics.StatisticsSettings.Writing;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.transaction.TransactionException;

/// Gathers the events of many AMQP messages into one transaction. [#take] is called once per AMQP
/// message, each time on a thread of its own, and returns when the message's events are written.
/// Several threads write. Each message belongs to one of them, so that no two meet in a row of
/// `messages` or `deliveries`. [HeldEvents] says which events a writer holds back, and events that
/// cannot be written yet go to `push.early` ([EarlyEvents]). Bounded by the prefetch of the three
/// queues. Thread-safe.
public final class StatisticsIntake implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StatisticsIntake.class);
  private static final Duration LONGEST_WAIT_FOR_ROOM = Duration.ofSeconds(60);
  private static final Duration NAP = Duration.ofMillis(5);

  /// MySQL gives "incorrect value" no class of error (`HY000`); MariaDB does
  /// (https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html#error_er_truncated_wrong_value_for_field).
  private static final int INCORRECT_VALUE = 1366;

  private final StatisticsWriter writer;
  private final RefusedEvents refusals;
  private final EarlyEvents early;
  private final Writing settings;
  private final List<BlockingQueue<Batch>> waiting;
  private final List<Thread> threads;
  private final AtomicInteger inHand = new AtomicInteger();
  private final AtomicInteger writing = new AtomicInteger();
  private volatile long wroteNanos = System.nanoTime();
  private final Timer writes;
  private final DistributionSummary sizes;

  /// @param refusals events that the database does not take
  /// @param early events that it does not take yet
  StatisticsIntake(
      StatisticsWriter writer,
      RefusedEvents refusals,
      EarlyEvents early,
      Writing settings,
      MeterRegistry meters) {
    this.writer = writer;
    this.refusals = refusals;
    this.early = early;
    this.settings = settings;
    this.writes =
        Timer.builder("pushplanet.statistics.write").publishPercentileHistogram().register(meters);
    this.sizes = meters.summary("pushplanet.statistics.events");
    this.waiting =
        Stream.<BlockingQueue<Batch>>generate(
                () -> new ArrayBlockingQueue<>(2 * settings.prefetch()))
            .limit(settings.writers())
            .toList();
    this.threads =
        waiting.stream()
            .map(mine -> Thread.ofPlatform().name("statistics").daemon(true).start(() -> run(mine)))
            .toList();
  }

  /// Writes the events of one AMQP message, puts aside those that cannot be written yet, and buries
  /// those that the database keeps refusing. Acknowledge the message afterwards.
  ///
  /// @param body a batch of [DeliveryEvent] in wire form
  /// @return those that cannot be read; the others are written
  /// @throws io.pushplanet.common.wire.MalformedWire when the body is no batch
  /// @throws RuntimeException when the events were not written: hand the message out again
  public List<DeadItem> take(byte[] body) {
    inHand.incrementAndGet();
    try {
      List<DeadItem> dead = new ArrayList<>();
      writeAndSettle(body, WireForm.readBatch(body, DeliveryEvent.class, dead::add));
      return dead;
    } finally {
      inHand.decrementAndGet();
    }
  }

  /// Does the same for an AMQP message of `push.early`, after a pause. Events that still cannot be
  /// written go back there, behind all others.
  public List<DeadItem> takeEarly(byte[] body) {
    List<DeadItem> dead = new ArrayList<>();
    List<DeliveryEvent> events = WireForm.readBatch(body, DeliveryEvent.class, dead::add);
    try {
      TimeUnit.MILLISECONDS.sleep(early.pause(events).toMillis());
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    writeAndSettle(body, events);
    return dead;
  }

  private void writeAndSettle(byte[] body, List<DeliveryEvent> events) {
    List<DeliveryEvent> notYet = new ArrayList<>();
    List<Refusal> refused = new ArrayList<>();
    try {
      for (Batch batch : handOver(events)) {
        // Without a timeout, which would cost more than the wait itself: a statement ends within
        // the connection's time, after a few tries at most, and with it the batch.
        Batch.Written written = batch.written().get();
        notYet.addAll(written.early());
        refused.addAll(written.refused());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("the events were not written: " + e.getCause(), e.getCause());
    } catch (InterruptedException e) {
      throw interrupted(e);
    }
    // Before any event is put aside: a message that goes round would leave a copy of it each time.
    if (!refused.isEmpty() && !refusals.bury(body, refused)) {
      throw new IllegalStateException(
          "the database refuses "
              + refused.size()
              + " of the events: "
              + refused.getFirst().reason());
    }
    if (!notYet.isEmpty()) {
      early.putAside(notYet);
    }
  }

  private static IllegalStateException interrupted(InterruptedException e) {
    Thread.currentThread().interrupt();
    return new IllegalStateException("interrupted while writing events", e);
  }

  private List<Batch> handOver(List<DeliveryEvent> events) throws InterruptedException {
    List<Batch> parts = new ArrayList<>();
    for (var part : byWriter(events).entrySet()) {
      Batch batch = new Batch(part.getValue());
      parts.add(batch);
      if (!waiting
          .get(part.getKey())
          .offer(batch, LONGEST_WAIT_FOR_ROOM.toMillis(), TimeUnit.MILLISECONDS)) {
        throw new IllegalStateException("MySQL does not keep up with the events");
      }
    }
    return parts;
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
            // Two writers with uplinks of one app would only wait for each other.
            case DeliveryEvent.Uplink uplink -> uplink.app().hashCode();
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
    while (!Thread.currentThread().isInterrupted()) {
      List<Batch> held = new ArrayList<>();
      try {
        writeUntilInterrupted(mine, held);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Throwable e) {
        // An Error too: if this thread ended, the callers of `take` would wait forever.
        held.forEach(batch -> batch.fail(e));
        LOG.error("event=statistics_writer_failed messages={}", held.size(), e);
      }
    }
  }

  /// @param held gets the batches in hand
  private void writeUntilInterrupted(BlockingQueue<Batch> mine, List<Batch> held)
      throws InterruptedException {
    HeldEvents heldEvents = new HeldEvents(System.nanoTime());
    while (!Thread.currentThread().isInterrupted()) {
      gather(mine, heldEvents, held);
      List<Told> due = heldEvents.due(System.nanoTime(), flow());
      List<Told> refusedBefore = new ArrayList<>();
      due.removeIf(told -> refusals.has(told.event()) && refusedBefore.add(told));
      if (!due.isEmpty() || !refusedBefore.isEmpty()) {
        writeInBatches(due, refusedBefore);
      }
      held.removeIf(batch -> batch.written().isDone());
    }
  }

  private void writeInBatches(List<Told> due, List<Told> refusedBefore) {
    writing.incrementAndGet();
    try {
      int most = settings.maxEvents();
      for (int from = 0; from < due.size(); from += most) {
        writeTogether(due.subList(from, Math.min(from + most, due.size())));
      }
      // One at a time: together with others, each would make all of them be written again in
      // halves.
      refusedBefore.forEach(told -> writeTogether(List.of(told)));
    } finally {
      wroteNanos = System.nanoTime();
      writing.decrementAndGet();
    }
  }

  private HeldEvents.Flow flow() {
    int held = inHand.get();
    if (held >= 2 * settings.prefetch() && writersAreIdle()) {
      return HeldEvents.Flow.STUCK;
    }
    return held >= settings.prefetch() ? HeldEvents.Flow.BEHIND : HeldEvents.Flow.STEADY;
  }

  /// Whether no writer has had anything to write for as long as it gathers. The events that one
  /// writer holds may belong to batches that another is writing.
  private boolean writersAreIdle() {
    return writing.get() == 0 && System.nanoTime() - wroteNanos > 2 * settings.gather().toNanos();
  }

  private void gather(BlockingQueue<Batch> mine, HeldEvents heldEvents, List<Batch> held)
      throws InterruptedException {
    if (heldEvents.isEmpty()) {
      held.add(mine.take());
      heldEvents.add(held.getLast(), System.nanoTime());
    }
    long until = System.nanoTime() + settings.gather().toNanos();
    while (heldEvents.ready() < settings.maxEvents() && until - System.nanoTime() > 0) {
      // Sleeps instead of waiting for the next batch: waking this thread for each batch would cost
      // as much as writing it.
      TimeUnit.NANOSECONDS.sleep(Math.min(NAP.toNanos(), settings.gather().toNanos()));
      int before = held.size();
      mine.drainTo(held);
      held.subList(before, held.size()).forEach(batch -> heldEvents.add(batch, System.nanoTime()));
    }
  }

  private void writeTogether(List<Told> told) {
    List<DeliveryEvent> events = told.stream().map(Told::event).toList();
    sizes.record(events.size());
    if (flow() != HeldEvents.Flow.STEADY) {
      early.fellBehind();
    }
    try {
      Set<DeliveryEvent> notYet = writes.record(() -> early.among(writer.write(events)));
      if (told.size() == 1) {
        refusals.remove(told.getFirst().event());
      }
      for (Told one : told) {
        if (notYet.contains(one.event())) {
          one.batch().isEarly(one.event());
        } else {
          one.batch().wrote();
        }
      }
    } catch (RuntimeException e) {
      LOG.warn(
          "event=statistics_write_failed events={} reason=\"{}\"", events.size(), e.toString());
      if (told.size() > 1 && !isFaultOfDatabase(e)) {
        // An event that cannot be written must not hold up its neighbours.
        writeTogether(told.subList(0, told.size() / 2));
        writeTogether(told.subList(told.size() / 2, told.size()));
      } else if (told.size() == 1 && isFaultOfEvent(e)) {
        DeliveryEvent refused = told.getFirst().event();
        refusals.add(refused);
        told.getFirst()
            .batch()
            .refuse(new Refusal(refused, NestedExceptionUtils.getMostSpecificCause(e).toString()));
      } else {
        early.fellBehind();
        told.forEach(one -> one.batch().fail(e));
      }
    }
  }

  /// Whether the event's values are at fault, not the database or the statement.
  private static boolean isFaultOfEvent(RuntimeException failure) {
    return failure instanceof DataIntegrityViolationException
        || (NestedExceptionUtils.getMostSpecificCause(failure) instanceof SQLException refusal
            && refusal.getErrorCode() == INCORRECT_VALUE);
  }

  /// Whether the database is away. Then each event would only wait for it in turn.
  private static boolean isFaultOfDatabase(RuntimeException failure) {
    return switch (failure) {
      case TransactionException _,
          TransientDataAccessException _,
          RecoverableDataAccessException _,
          DataAccessResourceFailureException _ ->
          true;
      default -> false;
    };
  }
}
