package io.pushplanet.gateway.delivery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.Confirms;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.delivery.MoveStore.Moves;
import io.pushplanet.gateway.later.Later;
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
import org.jspecify.annotations.Nullable;

/// Everything that must be durable before an AMQP message is acknowledged: what is parked, what waits, what goes to another
/// lane, what is told. Gathered while parcels are delivered, so that neighbours share a statement and a message; kept whenever
/// some more has come together. Thread-safe.
final class Outbox {
  private final MoveStore moves;
  private final Confirms lanes;
  private final DatabaseTurns databaseTurns;
  private final RetrySchedule retries;
  private final Clock clock;
  private final DeliveryMetrics metrics;

  @GuardedBy("this")
  private Gathered gathered = new Gathered();

  @GuardedBy("this")
  private final Map<Grave, List<Recipient>> buried = new LinkedHashMap<>();

  private record Grave(Push push, String what) {}

  /// What moves messages, and the news of it.
  private static final class Gathered {
    final Moves moves = new Moves();
    final Map<String, List<Push>> elsewhere = new LinkedHashMap<>();
    final List<DeliveryEvent> news = new ArrayList<>();
  }

  /// Why a parcel is tried again.
  ///
  /// @param status 0 where there was no answer
  /// @param done what was done about it besides; null where nothing
  record Cause(int status, String reason, @Nullable String done) {
    static final String NOT_SENT = "not sent";

    private String and(String then) {
      return done == null ? then : done + "; " + then;
    }
  }

  /// @param lanes of this outbox alone
  /// @param databaseTurns of the lane, which its outboxes share
  Outbox(
      MoveStore moves,
      Confirms lanes,
      DatabaseTurns databaseTurns,
      RetrySchedule retries,
      Clock clock,
      DeliveryMetrics metrics) {
    this.moves = moves;
    this.lanes = lanes;
    this.databaseTurns = databaseTurns;
    this.retries = retries;
    this.clock = clock;
    this.metrics = metrics;
  }

  synchronized void end(Parcel parcel, DeliveryState state, Attempt attempt) {
    Push push = parcel.push();
    gathered.news.add(
        new DeliveryEvent.Ended(
            push.app(), attempt.at(), push.id(), parcel.recipient().device(), state, attempt));
    metrics.ended(push, attempt.channel(), state.word(), attempt.at());
  }

  /// Its message was cancelled before it went out.
  void cancel(Parcel parcel) {
    end(parcel, DeliveryState.CANCELLED, attempt(null, "cancelled", 0, "cancelled", null, null));
  }

  /// What happened to a parcel that goes on.
  synchronized void tell(Parcel parcel, Attempt attempt) {
    gathered.news.add(attempted(parcel, attempt));
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
                    List.of(WireForm.write(one.getKey().push().to(one.getValue()).anew()))),
                DeliveryOutcome.InternalError.REASON + ": " + one.getKey().what()))
        .toList();
  }

  /// Gives up `from` for this parcel and tries `to`.
  synchronized void fallBack(Parcel parcel, Channel from, Channel to, Attempt attempt) {
    Push push = parcel.alone().without(from);
    gathered
        .elsewhere
        .computeIfAbsent(Topology.lane(to, push.delivery().priority()), _ -> new ArrayList<>())
        .add(push);
    gathered.news.add(attempted(parcel, attempt));
    metrics.count(from, "fell_back");
  }

  /// The device took a parcel that may lie in its inbox.
  synchronized void takeOut(Parcel parcel) {
    gathered.moves.taken().add(parcel);
  }

  synchronized void park(Parcel parcel, Attempt attempt) {
    gathered.moves.parked().add(parcel);
    gathered.news.add(attempted(parcel, attempt));
    metrics.count(attempt.channel(), "parked");
  }

  /// Its device has acknowledged it to a node after all: it is not sent to `from`.
  synchronized void callOff(Parcel parcel, Channel from) {
    tell(
        parcel,
        attempt(from, "called_off", 0, null, null, "delivered by mqtt; fallback cancelled"));
    metrics.count(from, "called_off");
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
          attempt(
              channel,
              "expired",
              cause.status(),
              cause.reason(),
              null,
              cause.and("its ttl ends before the next try")));
      return;
    }
    Attempt attempt =
        attempt(
            channel,
            "deferred",
            cause.status(),
            cause.reason(),
            null,
            cause.and("retry at " + dueAt));
    String reason = attempt.reason() == null ? "retry" : attempt.reason();
    gathered.moves.waiting().add(later(next, channel, dueAt, reason));
    gathered.news.add(attempted(parcel, attempt));
    metrics.count(channel, "deferred");
  }

  /// It is parked, its device may be connected, and its node could not be asked to look.
  synchronized void lookAgain(Parcel parcel) {
    Instant dueAt = clock.instant().plus(retries.afterFailedDrain(parcel.push().attempt()));
    if (!parcel.push().expiredAt(dueAt)) {
      gathered
          .moves
          .waiting()
          .add(later(parcel.alone().parked().again(), Channel.MQTT, dueAt, "drain_failed"));
      metrics.count(Channel.MQTT, "drain_failed");
    }
  }

  private static Later later(Push push, Channel channel, Instant dueAt, String reason) {
    return new Later(dueAt, Topology.lane(channel, push.delivery().priority()), reason, push);
  }

  /// Makes durable what has been gathered so far: first what moves messages, then what tells of it. Where MySQL takes nothing, the
  /// broker keeps what it is owed.
  ///
  /// @return the parcels that lie in inboxes now
  /// @throws RuntimeException when a part of it may not be durable: do not acknowledge
  List<Parcel> keep() {
    Gathered now;
    synchronized (this) {
      now = gathered;
      gathered = new Gathered();
    }
    List<Owed> owed =
        now.moves.isEmpty() ? List.of() : databaseTurns.take(() -> moves.writeOrOwe(now.moves));
    owed.forEach(one -> lanes.publish(Topology.OWED, WireForm.write(one)));
    now.elsewhere.forEach(
        (lane, pushes) -> pushes.forEach(push -> lanes.publish(lane, WireForm.write(push))));
    now.news.forEach(event -> lanes.publish(Topology.EVENTS, WireForm.write(event)));
    return owed.isEmpty() ? now.moves.parked() : List.of();
  }

  /// Makes durable what MySQL was owed.
  ///
  /// @throws RuntimeException when a part of it may not be: do not acknowledge
  void write(Moves owed) {
    databaseTurns.take(() -> moves.write(owed));
  }

  /// The end: everything is durable and confirmed.
  ///
  /// @throws RuntimeException when a part of it may not be: do not acknowledge
  void settle() {
    keep();
    lanes.await();
  }

  /// What was just tried.
  ///
  /// @param status 0 where there was no answer
  Attempt attempt(
      @Nullable Channel channel,
      String result,
      int status,
      @Nullable String reason,
      @Nullable String providerId,
      @Nullable String action) {
    return new Attempt(
        channel, clock.instant(), result, status == 0 ? null : status, reason, providerId, action);
  }

  private static DeliveryEvent attempted(Parcel parcel, Attempt attempt) {
    Push push = parcel.push();
    return new DeliveryEvent.Attempted(
        push.app(), attempt.at(), push.id(), parcel.recipient().device(), attempt);
  }
}
