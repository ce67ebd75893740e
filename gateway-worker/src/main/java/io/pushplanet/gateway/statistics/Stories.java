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
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// What a writer holds back: that a message was accepted waits until something is told of each of its recipients. Written
/// together that is one insert for each row, where it would be an insert, a look and an update. Nothing else waits, but for what
/// is told of the same message.
///
/// An end may also be here first. Where its message is older by [#OVERTAKEN] than one whose acceptance was seen, its own was
/// written long ago; else that may be about to come, and is waited for as long at most: a row that is there too early makes the
/// writer look at all rows.
///
/// Nobody waits for a recipient who takes long: a story is written when messages that were accepted [#OVERTAKEN] later are told to
/// the end, or when it is [#LONGEST] and [#OVERTAKEN] old. Until then the dispatcher tells what it remembers.
///
/// While the writers are behind, ends lie in their queue and only order counts. There acceptances must not run ahead of ends:
/// they would be written alone, their ends would have to be looked for, and the writers would fall back further. So they wait
/// also where nothing is whole yet, but not again and again in vain: where their messages wait in long lanes, no end will come.
///
/// Confined to its writer.
final class Stories {
  /// With [#OVERTAKEN], the gathering and the write it leaves room in the 2 s within which the API tells each attempt.
  static final Duration LONGEST = Duration.ofMillis(500);

  static final Duration OVERTAKEN = Duration.ofMillis(500);

  /// While the writers are behind: when nothing has become whole for so long, nobody waits for the next [#NEXT_TRY].
  static final Duration IN_VAIN = Duration.ofSeconds(2);

  static final Duration NEXT_TRY = Duration.ofSeconds(10);

  /// What the writers have to do.
  enum Flow {
    STEADY,
    /// There is always more to fetch.
    BEHIND,
    /// As much is in hand as there may be: nothing comes before something is written.
    STUCK
  }

  private final SequencedMap<MessageId, Story> open = new LinkedHashMap<>();
  private List<Told> ready = new ArrayList<>();

  /// When the newest of those that are told to the end began.
  private long newestWholeNanos;

  /// By the dispatchers' clocks.
  private @Nullable Instant newestAccepted;

  private long becameWholeNanos;
  private long noWaitUntilNanos;

  /// An event and where it came from.
  record Told(DeliveryEvent event, Batch batch) {}

  private static final class Story {
    final long sinceNanos;
    final boolean wasWrittenBefore;
    final List<Told> told = new ArrayList<>();
    final Set<DeviceId> heardOf = new HashSet<>();
    DeliveryEvent.@Nullable Accepted accepted;

    Story(long sinceNanos, boolean wasWrittenBefore) {
      this.sinceNanos = sinceNanos;
      this.wasWrittenBefore = wasWrittenBefore;
    }

    boolean isWhole() {
      return accepted != null && heardOf.size() >= accepted.recipients().size();
    }
  }

  Stories(long nowNanos) {
    newestWholeNanos = nowNanos - LONGEST.toNanos();
    becameWholeNanos = nowNanos;
    noWaitUntilNanos = nowNanos;
  }

  boolean isEmpty() {
    return open.isEmpty() && ready.isEmpty();
  }

  /// How many events need not wait any more.
  int ready() {
    return ready.size();
  }

  void add(Batch batch, long nowNanos) {
    for (DeliveryEvent event : batch.events()) {
      Told told = new Told(event, batch);
      switch (event) {
        case DeliveryEvent.Accepted accepted -> {
          Story story = story(accepted.message(), nowNanos);
          story.accepted = accepted;
          Instant time = accepted.message().time();
          if (newestAccepted == null || time.isAfter(newestAccepted)) {
            newestAccepted = time;
          }
          add(told, accepted.message(), story, nowNanos);
        }
        case DeliveryEvent.Attempted attempted -> {
          Story story = story(attempted.message(), nowNanos);
          story.heardOf.add(attempted.device());
          add(told, attempted.message(), story, nowNanos);
        }
        case DeliveryEvent.Ended ended -> {
          Story story = story(ended.message(), nowNanos);
          story.heardOf.add(ended.device());
          add(told, ended.message(), story, nowNanos);
        }
        // It needs the delivery's row.
        case DeliveryEvent.Receipt receipt when open.containsKey(receipt.message()) ->
            story(receipt.message(), nowNanos).told.add(told);
        case DeliveryEvent.Expanded _, DeliveryEvent.Receipt _, DeliveryEvent.Uplink _ ->
            ready.add(told);
      }
    }
  }

  private Story story(MessageId message, long nowNanos) {
    Story begun = open.get(message);
    if (begun == null) {
      begun = new Story(nowNanos, !isYoung(message));
      open.put(message, begun);
    }
    return begun;
  }

  /// Whether its acceptance may be about to come. Several dispatchers and lanes keep no order among each other.
  private boolean isYoung(MessageId message) {
    return newestAccepted != null && message.time().isAfter(newestAccepted.minus(OVERTAKEN));
  }

  private void add(Told told, MessageId message, Story story, long nowNanos) {
    story.told.add(told);
    if (story.isWhole()) {
      open.remove(message);
      ready.addAll(story.told);
      newestWholeNanos = Math.max(newestWholeNanos, story.sinceNanos);
      becameWholeNanos = nowNanos;
      noWaitUntilNanos = nowNanos;
    }
  }

  /// What is to be written now.
  List<Told> due(long nowNanos, Flow flow) {
    long patienceWithEnds = nowNanos - OVERTAKEN.toNanos();
    release(story ->
        story.accepted == null && (story.wasWrittenBefore || story.sinceNanos <= patienceWithEnds));
    long nobodyWaitsFor =
        switch (flow) {
          case STEADY ->
              Math.max(newestWholeNanos, nowNanos - LONGEST.toNanos()) - OVERTAKEN.toNanos();
          case BEHIND -> whileBehind(nowNanos);
          case STUCK -> ready.isEmpty() ? nowNanos : whileBehind(nowNanos);
        };
    release(story -> story.sinceNanos <= nobodyWaitsFor);
    List<Told> due = ready;
    ready = new ArrayList<>();
    return due;
  }

  private long whileBehind(long nowNanos) {
    long inVainSince = nowNanos - IN_VAIN.toNanos();
    if (becameWholeNanos <= inVainSince
        && !open.isEmpty()
        && open.firstEntry().getValue().sinceNanos <= inVainSince) {
      noWaitUntilNanos = nowNanos + NEXT_TRY.toNanos();
    }
    return nowNanos < noWaitUntilNanos ? nowNanos : newestWholeNanos - OVERTAKEN.toNanos();
  }

  private void release(Predicate<Story> goes) {
    for (Iterator<Story> stories = open.values().iterator(); stories.hasNext(); ) {
      Story story = stories.next();
      if (goes.test(story)) {
        ready.addAll(story.told);
        stories.remove();
      }
    }
  }
}
