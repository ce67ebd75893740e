package io.pushplanet.gateway.delivery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.lane.Confirms;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.delivery.MoveStore.Moves;
import io.pushplanet.gateway.delivery.MoveStore.Written;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.retry.RetrySchedule;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Everything that must be durable before an AMQP message is acknowledged: what is parked, what waits, what goes to another
/// lane, what is told. Gathered while parcels are delivered, so that neighbours share a statement and a message; kept whenever
/// some more has come together. Thread-safe.
///
/// Who delivers waits for no database: what moves messages is written aside, one write at a time, and what came meanwhile is
/// the next one. What is told of it leaves afterwards, all else at once.
final class Outbox implements AutoCloseable {
  private final MoveStore moves;
  private final Confirms lanes;
  private final DatabasePermits databasePermits;
  private final RetrySchedule retries;
  private final Clock clock;
  private final DeliveryMetrics metrics;

  @GuardedBy("this")
  private Leaving leaving = new Leaving();

  @GuardedBy("this")
  private Moving moving = new Moving();

  @GuardedBy("this")
  private boolean writing;

  @GuardedBy("this")
  private @Nullable Throwable failure;

  @GuardedBy("this")
  private final Map<Grave, List<Recipient>> buried = new LinkedHashMap<>();

  private record Grave(Push push, String what) {}

  /// What goes to other lanes, and news.
  private static final class Leaving {
    final Map<String, List<Push>> elsewhere = new LinkedHashMap<>();
    final List<DeliveryEvent> news = new ArrayList<>();
  }

  /// What MySQL is to take, and the news of it.
  private static final class Moving {
    final Moves moves = new Moves();
    final List<DeliveryEvent> news = new ArrayList<>();
  }

  /// Why a parcel is tried again.
  ///
  /// @param status 0 where there was no answer
  /// @param done what was done about it besides; null where nothing
  /// @param detail how the provider explains it; null where it does not
  record Cause(int status, String reason, @Nullable String done, @Nullable String detail) {
    static final String NOT_SENT = "not sent";

    Cause(int status, String reason, @Nullable String done) {
      this(status, reason, done, null);
    }

    private String and(String then) {
      return done == null ? then : done + "; " + then;
    }
  }

  /// @param lanes of this outbox alone
  /// @param databasePermits of the lane, which its outboxes share
  Outbox(
      MoveStore moves,
      Confirms lanes,
      DatabasePermits databasePermits,
      RetrySchedule retries,
      Clock clock,
      DeliveryMetrics metrics) {
    this.moves = moves;
    this.lanes = lanes;
    this.databasePermits = databasePermits;
    this.retries = retries;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// Asks or writes to MySQL in a turn of the lane. Not for who has one.
  <T> T withDatabasePermit(Supplier<T> work) {
    return databasePermits.withPermit(work);
  }

  synchronized void end(Parcel parcel, DeliveryState state, Attempt attempt) {
    leaving.news.add(ended(parcel, state, attempt));
  }

  /// The same for a parcel that may lie in its device's inbox: it is taken out, and told of afterwards.
  synchronized void endAndTakeOut(Parcel parcel, DeliveryState state, Attempt attempt) {
    moving.moves.taken().add(parcel);
    moving.news.add(ended(parcel, state, attempt));
  }

  private DeliveryEvent ended(Parcel parcel, DeliveryState state, Attempt attempt) {
    Push push = parcel.push();
    metrics.ended(push, attempt.channel(), state.word(), attempt.at());
    return new DeliveryEvent.Ended(
        push.app(), attempt.at(), push.id(), parcel.recipient().device(), state, attempt);
  }

  /// Its message was cancelled before it went out.
  void cancel(Parcel parcel) {
    end(parcel, DeliveryState.CANCELLED, Attempt.cancelled(now()));
  }

  /// What happened to a parcel that goes on.
  synchronized void tell(Parcel parcel, Attempt attempt) {
    leaving.news.add(attempted(parcel, attempt));
  }

  /// It failed of a bug of ours: whoever repairs that may replay it.
  synchronized void bury(Parcel parcel, Attempt attempt, String what) {
    buried
        .computeIfAbsent(new Grave(parcel.push().to(List.of()), what), _ -> new ArrayList<>())
        .add(parcel.recipient());
    end(parcel, DeliveryState.FAILED, attempt);
  }

  /// A letter for each message that is buried; what is told of it is durable after [#settle].
  synchronized List<DeadItem> buried() {
    return buried.entrySet().stream()
        .map(one ->
            new DeadItem(
                WireForm.join(
                    List.of(WireForm.write(one.getKey().push().to(one.getValue()).restarted()))),
                DeliveryOutcome.InternalError.REASON + ": " + one.getKey().what()))
        .toList();
  }

  /// Gives up `from` for this parcel and tries `to`.
  synchronized void fallBack(Parcel parcel, Channel from, Channel to, Attempt attempt) {
    Push push = parcel.alone().fallenBackFrom(from);
    leaving
        .elsewhere
        .computeIfAbsent(Topology.lane(to, push.delivery().priority()), _ -> new ArrayList<>())
        .add(push);
    leaving.news.add(attempted(parcel, attempt));
    metrics.count(from, "fell_back");
  }

  synchronized void park(Parcel parcel, Attempt attempt) {
    moving.moves.parked().add(parcel);
    moving.news.add(attempted(parcel, attempt));
    metrics.count(attempt.channel(), attempt.result());
  }

  /// Its device has acknowledged it to a node after all: it is not sent to `from`.
  synchronized void callOff(Parcel parcel, Channel from) {
    Attempt attempt = Attempt.calledOff(from, now(), "delivered by mqtt; fallback cancelled");
    tell(parcel, attempt);
    metrics.count(from, attempt.result());
  }

  /// Ends it where its time to live does not last until then.
  ///
  /// @param next what comes back after the wait
  synchronized void retry(Parcel parcel, Push next, Channel channel, Duration wait, Cause cause) {
    Instant dueAt = clock.instant().plus(wait).truncatedTo(ChronoUnit.MILLIS);
    if (parcel.push().expiredAt(dueAt)) {
      end(
          parcel,
          DeliveryState.EXPIRED,
          Attempt.expired(
                  channel, now(), cause.reason(), cause.and("its ttl ends before the next try"))
              .answered(cause.status())
              .explained(cause.detail()));
      return;
    }
    Attempt attempt =
        Attempt.deferred(channel, now(), cause.reason(), cause.and("retry at " + dueAt))
            .answered(cause.status())
            .explained(cause.detail());
    String reason = attempt.reason() == null ? "retry" : attempt.reason();
    moving.moves.waiting().add(later(next, channel, dueAt, reason));
    moving.news.add(attempted(parcel, attempt));
    metrics.count(channel, attempt.result());
  }

  /// It is parked, its device may be connected, and its node could not be asked to look.
  synchronized void lookAgain(Parcel parcel) {
    Instant dueAt = clock.instant().plus(retries.afterDirectoryLoss(parcel.push().attempt()));
    if (!parcel.push().expiredAt(dueAt)) {
      moving
          .moves
          .waiting()
          .add(later(parcel.alone().movedToInbox().retried(), Channel.MQTT, dueAt, "drain_failed"));
      metrics.count(Channel.MQTT, "drain_failed");
    }
  }

  private static Later later(Push push, Channel channel, Instant dueAt, String reason) {
    return new Later(dueAt, Topology.lane(channel, push.delivery().priority()), reason, push);
  }

  /// Lets what has been gathered so far become durable.
  ///
  /// @throws IllegalStateException when a part of it may not be: do not acknowledge
  void keep() {
    keep(_ -> {});
  }

  /// The same.
  ///
  /// @param parked hears of the parcels that lie in inboxes now
  void keep(Consumer<List<Parcel>> parked) {
    leave();
    synchronized (this) {
      throwIfFailed();
      if (!writing && !moving.moves.isEmpty()) {
        Thread.ofVirtual().name("outbox").start(() -> writeAll(parked));
        writing = true;
      }
    }
  }

  private void leave() {
    Leaving now;
    synchronized (this) {
      now = leaving;
      leaving = new Leaving();
    }
    now.elsewhere.forEach(
        (lane, pushes) -> pushes.forEach(push -> lanes.publish(lane, WireForm.write(push))));
    tell(now.news);
  }

  private void tell(List<DeliveryEvent> news) {
    news.forEach(event -> lanes.publish(Topology.EVENTS, WireForm.write(event)));
  }

  private void writeAll(Consumer<List<Parcel>> parked) {
    try {
      for (Moving next = nextMoving(); next != null; next = nextMoving()) {
        List<Parcel> there = write(next);
        if (!there.isEmpty()) {
          parked.accept(there);
        }
      }
    } catch (Throwable e) {
      // An Error too: who settles waits for this.
      fail(e);
    }
  }

  /// First what moves messages, then what tells of it. Where MySQL takes nothing, the broker keeps what it is owed.
  ///
  /// @return what lies in inboxes now
  private List<Parcel> write(Moving next) {
    Written written = databasePermits.withPermit(() -> moves.writeOrOwe(next.moves));
    written.owed().forEach(one -> lanes.publish(Topology.OWED, WireForm.write(Owed.Item.of(one))));
    tell(next.news);
    return written.parked();
  }

  private synchronized @Nullable Moving nextMoving() {
    if (moving.moves.isEmpty()) {
      writing = false;
      notifyAll();
      return null;
    }
    Moving next = moving;
    moving = new Moving();
    return next;
  }

  private synchronized void fail(Throwable why) {
    failure = why;
    writing = false;
    notifyAll();
  }

  @GuardedBy("this")
  private void throwIfFailed() {
    if (failure != null) {
      throw new IllegalStateException("not durable: " + failure, failure);
    }
  }

  /// Makes durable what MySQL was owed.
  ///
  /// @throws RuntimeException when a part of it may not be: do not acknowledge
  void write(Moves owed) {
    databasePermits.withPermit(() -> moves.write(owed));
  }

  /// The end: everything is durable and confirmed.
  ///
  /// @throws RuntimeException when a part of it may not be: do not acknowledge
  void settle() {
    keep();
    awaitWriter();
    lanes.await();
  }

  private synchronized void awaitWriter() {
    try {
      while (writing) {
        wait();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting for MySQL", e);
    }
    throwIfFailed();
  }

  /// Returns when nothing of it is being written any more: only then may its batch be handed out again.
  @Override
  public synchronized void close() {
    boolean interrupted = false;
    while (writing) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// The time of an attempt that has just ended.
  Instant now() {
    return clock.instant();
  }

  private static DeliveryEvent attempted(Parcel parcel, Attempt attempt) {
    Push push = parcel.push();
    return new DeliveryEvent.Attempted(
        push.app(), attempt.at(), push.id(), parcel.recipient().device(), attempt);
  }
}
