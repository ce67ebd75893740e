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
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Everything that must be durable before an AMQP message is acknowledged: parked and waiting
/// messages, messages for other lanes, and events. It gathers them while parcels are delivered, so
/// that parcels of a batch share a statement and a message, and stores them whenever some more have
/// come together. Thread-safe.
///
/// A delivery does not wait for the database: an [OutboxWriter] writes what moves messages. Events
/// about moved messages leave after the write, everything else at once.
final class Outbox implements AutoCloseable {
  /// The reason of a parked message whose node could not be asked to look.
  static final String DRAIN_FAILED = "drain_failed";

  private final Confirms confirms;
  private final DatabasePermits databasePermits;
  private final RetrySchedule retries;
  private final Clock clock;
  private final DeliveryMetrics metrics;
  private final OutboxWriter writer;

  @GuardedBy("this")
  private ToPublish toPublish = new ToPublish();

  @GuardedBy("this")
  private final Map<Letter, List<Recipient>> deadLetters = new LinkedHashMap<>();

  private record Letter(Push push, String what) {}

  /// Messages for other lanes, and events.
  private static final class ToPublish {
    final Map<String, List<Push>> elsewhere = new LinkedHashMap<>();
    final List<DeliveryEvent> events = new ArrayList<>();
  }

  /// Why a parcel is tried again.
  ///
  /// @param status 0 where there was no answer
  /// @param done what else was done about it; null where nothing was
  /// @param detail the provider's explanation; null where it gave none
  record Cause(int status, String reason, @Nullable String done, @Nullable String detail) {
    static final String NOT_SENT = "not sent";

    Cause(int status, String reason, @Nullable String done) {
      this(status, reason, done, null);
    }

    private String and(String then) {
      return done == null ? then : done + "; " + then;
    }
  }

  /// @param confirms of this outbox alone
  /// @param databasePermits of the lane; its outboxes share them
  /// @param onParked is given the parcels that lie in inboxes now, and this outbox
  Outbox(
      MoveStore moves,
      Confirms confirms,
      DatabasePermits databasePermits,
      RetrySchedule retries,
      Clock clock,
      DeliveryMetrics metrics,
      BiConsumer<List<Parcel>, Outbox> onParked) {
    this.confirms = confirms;
    this.databasePermits = databasePermits;
    this.retries = retries;
    this.clock = clock;
    this.metrics = metrics;
    this.writer =
        new OutboxWriter(moves, confirms, databasePermits, parked -> onParked.accept(parked, this));
  }

  /// Does work that uses MySQL, holding a database permit of the lane. Must not be called while
  /// holding one: it would deadlock.
  <T> T withDatabasePermit(Supplier<T> work) {
    return databasePermits.withPermit(work);
  }

  synchronized void end(Parcel parcel, DeliveryState state, Attempt attempt) {
    toPublish.events.add(ended(parcel, state, attempt));
  }

  /// Like [#end], for a parcel that may lie in its device's inbox: it is taken out first, and the
  /// event follows.
  void endAndTakeOut(Parcel parcel, DeliveryState state, Attempt attempt) {
    writer.takeOut(parcel, ended(parcel, state, attempt));
  }

  private DeliveryEvent ended(Parcel parcel, DeliveryState state, Attempt attempt) {
    Push push = parcel.push();
    metrics.ended(push, attempt.channel(), state.word(), attempt.at());
    return new DeliveryEvent.Ended(
        push.app(), attempt.at(), push.id(), parcel.recipient().device(), state, attempt);
  }

  /// The parcel's message was cancelled before it went out.
  void cancel(Parcel parcel) {
    end(parcel, DeliveryState.CANCELLED, Attempt.cancelled(now()));
  }

  /// Reports an attempt for a parcel that goes on.
  synchronized void report(Parcel parcel, Attempt attempt) {
    toPublish.events.add(attempted(parcel, attempt));
  }

  /// The parcel failed because of a bug of ours; when the bug is fixed, an operator may replay the
  /// letter.
  synchronized void deadLetter(Parcel parcel, Attempt attempt, String what) {
    deadLetters
        .computeIfAbsent(new Letter(parcel.push().to(List.of()), what), _ -> new ArrayList<>())
        .add(parcel.recipient());
    end(parcel, DeliveryState.FAILED, attempt);
  }

  /// One letter for each message; the events about them are durable after [#settle].
  synchronized List<DeadItem> deadLetters() {
    return deadLetters.entrySet().stream()
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
    toPublish
        .elsewhere
        .computeIfAbsent(Topology.lane(to, push.delivery().priority()), _ -> new ArrayList<>())
        .add(push);
    toPublish.events.add(attempted(parcel, attempt));
    metrics.count(from, "fell_back");
  }

  void park(Parcel parcel, Attempt attempt) {
    writer.park(parcel, attempted(parcel, attempt));
    metrics.count(attempt.channel(), attempt.result());
  }

  /// The device has acknowledged the parcel to a node after all, so it is not sent to `from`.
  synchronized void callOff(Parcel parcel, Channel from) {
    Attempt attempt = Attempt.calledOff(from, now(), "delivered by mqtt; fallback cancelled");
    report(parcel, attempt);
    metrics.count(from, attempt.result());
  }

  /// Ends the parcel instead where its time to live ends before the next try.
  ///
  /// @param next the message that comes back after the wait
  void retry(Parcel parcel, Push next, Channel channel, Duration wait, Cause cause) {
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
    writer.keep(later(next, channel, dueAt, reason), attempted(parcel, attempt));
    metrics.count(channel, attempt.result());
  }

  /// MySQL, which would say whether the parcel may still be sent, did not answer.
  void waitUnchecked(Parcel parcel, Channel channel) {
    retry(
        parcel,
        parcel.alone().putOff(),
        channel,
        retries.afterDatabaseLoss(),
        new Cause(0, "database_unavailable", Cause.NOT_SENT));
  }

  /// The parcel is parked, its device may be connected, and its node could not be asked to look.
  void lookAgain(Parcel parcel) {
    Instant dueAt = clock.instant().plus(retries.afterDirectoryLoss(parcel.push().attempt()));
    if (!parcel.push().expiredAt(dueAt)) {
      writer.keep(
          later(parcel.alone().movedToInbox().retried(), Channel.MQTT, dueAt, DRAIN_FAILED));
      metrics.count(Channel.MQTT, DRAIN_FAILED);
    }
  }

  private static Later later(Push push, Channel channel, Instant dueAt, String reason) {
    return new Later(dueAt, Topology.lane(channel, push.delivery().priority()), reason, push);
  }

  /// Starts to make durable what has been gathered so far.
  ///
  /// @throws IllegalStateException when an earlier part may not be durable: do not acknowledge
  void flush() {
    publish();
    writer.start();
  }

  private void publish() {
    ToPublish now;
    synchronized (this) {
      now = toPublish;
      toPublish = new ToPublish();
    }
    now.elsewhere.forEach(
        (lane, pushes) -> pushes.forEach(push -> confirms.publish(lane, WireForm.write(push))));
    now.events.forEach(event -> confirms.publish(Topology.EVENTS, WireForm.write(event)));
  }

  /// The end: returns when everything is durable and confirmed.
  ///
  /// @throws RuntimeException when some of it may not be durable: do not acknowledge
  void settle() {
    flush();
    writer.await();
    confirms.await();
  }

  /// Returns when no write is under way: only then may the batch be handed out again.
  @Override
  public void close() {
    writer.awaitEnd();
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
