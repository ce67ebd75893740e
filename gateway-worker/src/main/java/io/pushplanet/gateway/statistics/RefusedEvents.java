package io.pushplanet.gateway.statistics;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.stream.Collectors.joining;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.access.Sha256;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.intake.DeadLetters;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.node.ObjectNode;

/// Events that the database refuses even alone, for a value that fits no column or a row that
/// breaks a constraint. When all of an AMQP message's refused events have been tried often and long
/// enough, they are buried in one dead letter, and the message need not go round any more.
///
/// A message whose acknowledgement was lost comes again; it is recognized by its bytes and not
/// buried twice. A letter that an operator replays is another message, because it says when it was
/// buried, and gets all its tries again. A restart forgets: the tries begin anew, and a message is
/// buried twice only if the restart came between its burial and its acknowledgement.
///
/// Thread-safe.
final class RefusedEvents {
  /// More than there are events in the messages in hand.
  static final int MAX_REMEMBERED = 30_000;

  private static final Logger LOG = LoggerFactory.getLogger(RefusedEvents.class);

  private final DeadLetters deadLetters;
  private final Clock clock;
  private final int leastTries;
  private final Duration patience;
  private final Lock burying = new ReentrantLock();

  /// By the event's digest; the event that has not been tried for the longest time is first.
  @GuardedBy("this")
  private final SequencedMap<String, Tries> refused = new LinkedHashMap<>();

  /// Digests of AMQP messages, each together with its refused events.
  @GuardedBy("burying")
  private final SequencedSet<String> buried = new LinkedHashSet<>();

  /// @param reason the database's message
  record Refusal(DeliveryEvent event, String reason) {}

  private record Tries(int count, Instant first, Instant last) {}

  /// @param leastTries how often an event is tried at least before it is buried
  /// @param patience how long it is tried at least. An event that was not tried for so long begins
  ///     anew
  RefusedEvents(DeadLetters deadLetters, Clock clock, int leastTries, Duration patience) {
    this.deadLetters = deadLetters;
    this.clock = clock;
    this.leastTries = leastTries;
    this.patience = patience;
  }

  /// Whether the database refused the event lately.
  synchronized boolean has(DeliveryEvent event) {
    if (refused.isEmpty()) {
      return false;
    }
    forgetOld();
    return refused.containsKey(digest(event));
  }

  synchronized void add(DeliveryEvent event) {
    forgetOld();
    Instant now = clock.instant();
    String digest = digest(event);
    Tries before = refused.remove(digest);
    refused.put(
        digest,
        before == null
            ? new Tries(1, now, now)
            : new Tries(before.count() + 1, before.first(), now));
    if (refused.size() > MAX_REMEMBERED) {
      refused.pollFirstEntry();
    }
  }

  /// Forgets an event that was written after all.
  synchronized void remove(DeliveryEvent event) {
    if (!refused.isEmpty()) {
      refused.remove(digest(event));
    }
  }

  /// Buries the refused events of an AMQP message, unless they were buried before.
  ///
  /// @param body the message's; all its other events are written
  /// @return whether the message is done; otherwise the broker is to hand it out again
  /// @throws io.pushplanet.common.lane.BrokerUnavailable when nothing was buried
  boolean bury(byte[] body, List<Refusal> refusals) {
    String message = digest(body, refusals);
    burying.lock();
    try {
      if (!buried.contains(message)) {
        if (!refusals.stream().allMatch(one -> isFinal(one.event()))) {
          return false;
        }
        buryNow(refusals);
        buried.add(message);
        if (buried.size() > MAX_REMEMBERED) {
          buried.removeFirst();
        }
      }
      refusals.forEach(one -> remove(one.event()));
      return true;
    } finally {
      burying.unlock();
    }
  }

  private synchronized boolean isFinal(DeliveryEvent event) {
    Tries tries = refused.get(digest(event));
    return tries != null
        && tries.count() >= leastTries
        && !tries.first().plus(patience).isAfter(clock.instant());
  }

  private void buryNow(List<Refusal> refusals) {
    String queue =
        refusals.getFirst().event() instanceof DeliveryEvent.Accepted
            ? Topology.ACCEPTED
            : Topology.EVENTS;
    String reason =
        refusals.stream().map(Refusal::reason).distinct().collect(joining("; ", "refused: ", ""));
    deadLetters.bury(
        queue,
        List.of(
            new DeadItem(
                WireForm.join(refusals.stream().map(one -> inLetter(one.event())).toList()),
                reason)));
    LOG.error("event=statistics_events_dead queue={} events={}", queue, refusals.size());
  }

  /// Adds a field that readers skip. It makes the letter unlike every message that was buried
  /// before.
  private byte[] inLetter(DeliveryEvent event) {
    ObjectNode told = WireForm.mapper().valueToTree(event);
    return WireForm.write(told.put("buried_at", clock.instant().toString()));
  }

  @GuardedBy("this")
  private void forgetOld() {
    Instant old = clock.instant().minus(patience);
    while (!refused.isEmpty() && refused.firstEntry().getValue().last().isBefore(old)) {
      refused.pollFirstEntry();
    }
  }

  private static String digest(byte[] body, List<Refusal> refusals) {
    return refusals.stream()
        .map(one -> digest(one.event()))
        .sorted()
        .reduce(Sha256.hex(body), (before, one) -> Sha256.hex((before + one).getBytes(US_ASCII)));
  }

  private static String digest(DeliveryEvent event) {
    return Sha256.hex(WireForm.write(event));
  }
}
