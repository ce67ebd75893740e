package io.pushplanet.cm.inbox;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.cm.transport.LoopTasks;
import io.pushplanet.cm.uplink.Events;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Pause;
import io.pushplanet.common.session.DeviceKey;
import java.sql.SQLException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The messages that wait for devices in MySQL. A storm of connecting devices becomes few
/// statements: a read takes up to [InboxSettings#devicesPerRead] devices at once, and a read that
/// is not full begins no sooner than [InboxSettings#together] after the last one. A single device
/// does not wait.
///
/// The event of a delivered row is published first, and the row is deleted after the broker has
/// confirmed the event, so that a crash in between repeats a message instead of losing its outcome.
/// For a broadcast no row is deleted: the device's position moves past it. Thread-safe; callers
/// never wait.
public final class Inbox implements ParkedMessages, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Inbox.class);

  /// How long a reader waits for work before it checks whether it has to end.
  private static final long PATIENCE_SECONDS = 10;

  private static final long LOOKS_AGAIN_MILLIS = 100;
  private static final int MAX_LOOKS = 50;

  private final InboxTable table;
  private final BroadcastShelf broadcasts;
  private final Events events;
  private final InstantSource clock;
  private final InboxSettings settings;
  private final BooleanSupplier heapIsFull;
  private final BlockingQueue<Request> requests;
  private final ReentrantLock gathering = new ReentrantLock();
  private final DatabaseHealth health = new DatabaseHealth();
  private final Deletions deletions;
  private final CountDownLatch closed = new CountDownLatch(1);
  // Used only by the reader that gathers.
  private long notBeforeNanos = System.nanoTime();
  private final Counter reads;
  private final Counter readFailures;
  private final Counter drained;
  private final Timer written;

  private record Request(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
    void unreadable() {
      then.accept(new InboxPage.Unreadable());
    }
  }

  /// @param heapIsFull while it is, each read waits up to five seconds; the messages are safe in
  ///     MySQL meanwhile
  Inbox(
      DataSource database,
      Events events,
      InstantSource clock,
      InboxSettings settings,
      BooleanSupplier heapIsFull,
      MeterRegistry meters) {
    this.table = new InboxTable(database, settings.rowsPerDevice(), settings.rowsPerRead());
    this.broadcasts = new BroadcastShelf(database);
    this.events = events;
    this.clock = clock;
    this.settings = settings;
    this.heapIsFull = heapIsFull;
    this.requests = new ArrayBlockingQueue<>(settings.waiting());
    this.deletions =
        new Deletions(settings.waiting(), this::delete, health, System::nanoTime, meters);
    this.reads = meters.counter("cm.inbox.reads");
    this.readFailures = meters.counter("cm.inbox.read.failures");
    this.drained = meters.counter("cm.inbox.drained");
    this.written =
        Timer.builder("cm.inbox.written")
            .description("From asking for a device's waiting messages to writing their PUBLISH")
            .publishPercentiles(0.5, 0.99)
            .publishPercentileHistogram()
            .register(meters);
    Gauge.builder("cm.inbox.waiting", requests, BlockingQueue::size).register(meters);
    for (int reader = 0; reader < settings.readers(); reader++) {
      // A virtual thread takes twice the processor time when it waits for a database.
      Thread.ofPlatform().daemon().name("cm-inbox-read-" + reader).start(this::readForEver);
    }
    deletions.start();
  }

  public boolean isReachable() {
    return health.isReachable();
  }

  @Override
  public void read(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
    if (!requests.offer(new Request(device, loop, then))) {
      loop.execute(() -> then.accept(new InboxPage.Unreadable()));
    }
  }

  /// The devices for which messages are parked; empty while MySQL is away. Blocks.
  public Optional<Collection<DeviceKey>> among(List<DeviceKey> devices) {
    try {
      Instant now = clock.instant();
      var found = new LinkedHashSet<>(table.among(devices, now));
      found.addAll(broadcasts.among(devices, now.toEpochMilli()));
      reads.increment();
      health.answered();
      return Optional.of(found);
    } catch (SQLException away) {
      readFailures.increment();
      health.failed(away);
      return Optional.empty();
    }
  }

  @Override
  public void written(long tookNanos) {
    written.record(tookNanos, TimeUnit.NANOSECONDS);
  }

  @Override
  public void delivered(InboxRow row, @Nullable Instant lateAt, Then then) {
    DeliveryEvent event =
        lateAt == null
            ? ended(row, DeliveryState.DELIVERED, null, "from inbox")
            : LateAcknowledgements.event(row.device(), row.message(), lateAt);
    finished(row, event, drained::increment, then);
  }

  @Override
  public void failed(InboxRow row, Settlement.Refused why, Then then) {
    String detail = why.detail();
    finished(
        row,
        DeliveryState.FAILED,
        why.why().word(),
        detail == null ? "from inbox" : "from inbox; " + detail,
        then);
  }

  @Override
  public void over(InboxRow row, Then then) {
    switch (row.fate()) {
      case REPEAT -> deletions.add(row, then);
      case EXPIRED -> finished(row, DeliveryState.EXPIRED, "ttl", "from inbox", then);
      case COLLAPSED -> finished(row, DeliveryState.EXPIRED, "collapsed", "from inbox", then);
      case CANCELLED -> finished(row, DeliveryState.CANCELLED, "cancelled", "from inbox", then);
      case DUE -> throw new IllegalArgumentException("it is still to be delivered");
    }
  }

  private void finished(
      InboxRow row, DeliveryState state, @Nullable String reason, String action, Then then) {
    finished(row, ended(row, state, reason, action), () -> {}, then);
  }

  private DeliveryEvent ended(
      InboxRow row, DeliveryState state, @Nullable String reason, String action) {
    Instant now = clock.instant();
    var attempt = Attempt.fromInbox(now, state, reason, action);
    return new DeliveryEvent.Ended(
        row.device().app(), now, row.message(), row.device().device(), state, attempt);
  }

  private void finished(InboxRow row, DeliveryEvent event, Runnable confirmed, Then then) {
    boolean told =
        events.tell(
            event,
            () -> {
              confirmed.run();
              deletions.add(row, then);
            });
    if (!told) {
      then.done(false);
    }
  }

  private void readForEver() {
    while (closed.getCount() > 0) {
      try {
        List<Request> batch = gathered();
        if (!batch.isEmpty()) {
          readAll(batch);
        }
      } catch (InterruptedException stopped) {
        return;
      } catch (RuntimeException | Error bug) {
        LOG.error("event=inbox_reader_error", bug);
      }
    }
  }

  /// One reader gathers at a time, so that another reader gets only the requests that arrive while
  /// the first one reads.
  private List<Request> gathered() throws InterruptedException {
    gathering.lockInterruptibly();
    try {
      Request first = requests.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (first == null) {
        return List.of();
      }
      awaitRoom();
      if (requests.size() + 1 < settings.devicesPerRead()) {
        Pause.nanos(notBeforeNanos - System.nanoTime());
      }
      notBeforeNanos = System.nanoTime() + settings.together().toNanos();
      var batch = new ArrayList<Request>();
      batch.add(first);
      requests.drainTo(batch, settings.devicesPerRead() - 1);
      return batch;
    } finally {
      gathering.unlock();
    }
  }

  /// Each device that is read holds up to [InboxSettings#rowsPerDevice] rows until it has
  /// acknowledged them, and no other limit bounds the sum. Reading is slowed down, not stopped: if
  /// sessions fill the heap, waiting does not empty it.
  private void awaitRoom() throws InterruptedException {
    for (int looks = 0; looks < MAX_LOOKS && heapIsFull.getAsBoolean(); looks++) {
      if (closed.await(LOOKS_AGAIN_MILLIS, TimeUnit.MILLISECONDS)) {
        return;
      }
    }
  }

  private void readAll(List<Request> batch) {
    var byDevice = new LinkedHashMap<DeviceKey, List<Request>>();
    for (Request request : batch) {
      byDevice.computeIfAbsent(request.device(), _ -> new ArrayList<>()).add(request);
    }
    var tasks = new LoopTasks();
    try {
      var devices = List.copyOf(byDevice.keySet());
      Instant now = clock.instant();
      Map<DeviceKey, InboxPage.Rows> pages =
          broadcasts.withBroadcasts(table.read(devices, now), devices, now.toEpochMilli());
      reads.increment();
      health.answered();
      byDevice.forEach((device, asked) -> {
        InboxPage page = pages.getOrDefault(device, InboxPage.Rows.NONE);
        asked.forEach(request -> tasks.add(request.loop(), () -> request.then().accept(page)));
      });
    } catch (SQLException away) {
      readFailures.increment();
      health.failed(away);
      batch.forEach(request -> tasks.add(request.loop(), request::unreadable));
    } catch (RuntimeException | Error bug) {
      LOG.error("event=inbox_read_error", bug);
      readFailures.increment();
      batch.forEach(request -> tasks.add(request.loop(), request::unreadable));
    }
    tasks.go();
  }

  private void delete(List<InboxRow> rows) throws SQLException {
    table.delete(rows.stream().filter(row -> !row.isBroadcast()).toList());
    broadcasts.moveOn(rows.stream().filter(InboxRow::isBroadcast).toList(), clock.instant());
  }

  @Override
  public void close() {
    closed.countDown();
    deletions.close();
  }
}
