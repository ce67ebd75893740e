package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The events that a writer holds back. An acceptance waits until an event has come for each of its
/// recipients: written together, each row costs one insert instead of an insert, a look and an
/// update. Apart from that, only later events of the same message wait.
///
/// An end may also arrive before its acceptance. A row that is there before its message makes the
/// writer look at all rows, so an end waits for its acceptance, too.
///
/// No event waits for a slow recipient. An acceptance is written alone when messages that were
/// accepted [#OVERTAKEN] later are complete, and an end when the acceptances of such messages have
/// come, because its own must have been written long ago. In any other case no event waits longer
/// than [#LONGEST]. Until then the dispatcher answers from its memory.
///
/// While the writers are behind, events lie in their queues and only order counts, however long a
/// write takes. Events that are written alone have to be looked for, and the writers would fall
/// back further. So each event waits up to [#LONGEST_BEHIND], but not again and again in vain:
/// while messages wait in long lanes, no end will come.
///
/// Confined to its writer.
final class HeldEvents {
  /// Measured by the dispatchers' clocks. As these may differ, no acceptance counts as overtaken
  /// before it has waited for so long.
  static final Duration OVERTAKEN = Duration.ofMillis(500);

  /// Leaves room for the gathering and the write in the 2 s within which the API shows each
  /// attempt.
  static final Duration LONGEST = Duration.ofSeconds(1);

  static final Duration LONGEST_BEHIND = Duration.ofSeconds(5);

  /// When no message has become complete for so long while the writers are behind, no event waits
  /// during the following [#NEXT_TRY].
  static final Duration IN_VAIN = Duration.ofSeconds(2);

  static final Duration NEXT_TRY = Duration.ofSeconds(10);

  /// How much the writers have to do.
  enum Flow {
    STEADY,
    /// There are always more messages to fetch.
    BEHIND,
    /// The prefetch is in hand and no writer writes: no message arrives before some are written.
    STUCK
  }

  private final SequencedMap<MessageId, MessageEvents> open = new LinkedHashMap<>();
  private List<Told> ready = new ArrayList<>();

  /// When the newest message was accepted whose acceptance has come.
  private @Nullable Instant newestAccepted;

  /// When the newest complete message was accepted.
  private @Nullable Instant newestComplete;

  private long becameCompleteNanos;
  private long noWaitUntilNanos;

  /// An event and the batch that it came in.
  record Told(DeliveryEvent event, Batch batch) {}

  private static final class MessageEvents {
    final Instant acceptedAt;
    final long sinceNanos;
    final List<Told> told = new ArrayList<>();
    final Set<DeviceId> heardOf = new HashSet<>();
    DeliveryEvent.@Nullable Accepted accepted;

    MessageEvents(Instant acceptedAt, long sinceNanos) {
      this.acceptedAt = acceptedAt;
      this.sinceNanos = sinceNanos;
    }

    boolean isComplete() {
      return accepted != null && heardOf.size() >= accepted.recipients().size();
    }
  }

  HeldEvents(long nowNanos) {
    becameCompleteNanos = nowNanos;
    noWaitUntilNanos = nowNanos;
  }

  boolean isEmpty() {
    return open.isEmpty() && ready.isEmpty();
  }

  /// How many events wait no longer.
  int ready() {
    return ready.size();
  }

  void add(Batch batch, long nowNanos) {
    for (DeliveryEvent event : batch.events()) {
      Told told = new Told(event, batch);
      switch (event) {
        case DeliveryEvent.Accepted accepted -> {
          MessageEvents events = events(accepted.message(), nowNanos);
          events.accepted = accepted;
          newestAccepted = newest(newestAccepted, events.acceptedAt);
          add(told, accepted.message(), events, nowNanos);
        }
        case DeliveryEvent.Attempted attempted -> {
          MessageEvents events = events(attempted.message(), nowNanos);
          events.heardOf.add(attempted.device());
          add(told, attempted.message(), events, nowNanos);
        }
        case DeliveryEvent.Ended ended -> {
          MessageEvents events = events(ended.message(), nowNanos);
          events.heardOf.add(ended.device());
          add(told, ended.message(), events, nowNanos);
        }
        // A receipt needs its delivery's row.
        case DeliveryEvent.Receipt receipt when open.containsKey(receipt.message()) ->
            events(receipt.message(), nowNanos).told.add(told);
        case DeliveryEvent.Expanded _, DeliveryEvent.Receipt _, DeliveryEvent.Uplink _ ->
            ready.add(told);
      }
    }
  }

  private MessageEvents events(MessageId message, long nowNanos) {
    return open.computeIfAbsent(message, _ -> new MessageEvents(message.time(), nowNanos));
  }

  private static Instant newest(@Nullable Instant newest, Instant time) {
    return newest == null || time.isAfter(newest) ? time : newest;
  }

  private void add(Told told, MessageId message, MessageEvents events, long nowNanos) {
    events.told.add(told);
    if (events.isComplete()) {
      open.remove(message);
      ready.addAll(events.told);
      // A message without recipients (yet) has no events that could have overtaken others.
      if (!events.heardOf.isEmpty()) {
        newestComplete = newest(newestComplete, events.acceptedAt);
        becameCompleteNanos = nowNanos;
        noWaitUntilNanos = nowNanos;
      }
    }
  }

  /// Removes and returns the events that are to be written now.
  List<Told> due(long nowNanos, Flow flow) {
    long dueIfHeldSince =
        switch (flow) {
          case STEADY -> nowNanos - LONGEST.toNanos();
          case BEHIND -> whileBehind(nowNanos);
          case STUCK -> ready.isEmpty() ? nowNanos : whileBehind(nowNanos);
        };
    for (Iterator<MessageEvents> all = open.values().iterator(); all.hasNext(); ) {
      MessageEvents events = all.next();
      if (events.sinceNanos <= dueIfHeldSince || isOvertaken(events, nowNanos)) {
        ready.addAll(events.told);
        all.remove();
      }
    }
    List<Told> due = ready;
    ready = new ArrayList<>();
    return due;
  }

  private long whileBehind(long nowNanos) {
    long inVainSince = nowNanos - IN_VAIN.toNanos();
    if (becameCompleteNanos <= inVainSince
        && !open.isEmpty()
        && open.firstEntry().getValue().sinceNanos <= inVainSince) {
      noWaitUntilNanos = nowNanos + NEXT_TRY.toNanos();
    }
    return nowNanos < noWaitUntilNanos ? nowNanos : nowNanos - LONGEST_BEHIND.toNanos();
  }

  private boolean isOvertaken(MessageEvents events, long nowNanos) {
    Instant overtakers = events.acceptedAt.plus(OVERTAKEN);
    if (events.accepted == null) {
      return newestAccepted == null || !newestAccepted.isBefore(overtakers);
    }
    return newestComplete != null
        && !newestComplete.isBefore(overtakers)
        && events.sinceNanos <= nowNanos - OVERTAKEN.toNanos();
  }
}
