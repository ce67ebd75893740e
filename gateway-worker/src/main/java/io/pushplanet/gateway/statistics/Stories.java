package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What a writer holds back: that a message was accepted waits until something is told of each of its recipients. Written
/// together that is one insert for each row, where it would be an insert, a look and an update. Nothing else waits, but for what
/// is told of the same message.
///
/// Nobody waits for a recipient who takes long: a story is written when messages that were accepted [#OVERTAKEN] later are told to
/// the end, or when it is [#LONGEST] and [#OVERTAKEN] old. Until then the dispatcher tells what it remembers.
///
/// Confined to its writer.
final class Stories {
  static final Duration LONGEST = Duration.ofMillis(1_500);
  static final Duration OVERTAKEN = Duration.ofMillis(500);

  private final Map<MessageId, Story> open = new LinkedHashMap<>();
  private List<Told> ready = new ArrayList<>();

  /// When the newest of those that are told to the end began.
  private long newestWholeNanos;

  /// An event and where it came from.
  record Told(DeliveryEvent event, Batch batch) {}

  private static final class Story {
    final long sinceNanos;
    final List<Told> told = new ArrayList<>();
    final Set<DeviceId> heardOf = new HashSet<>();
    DeliveryEvent.@Nullable Accepted accepted;

    Story(long sinceNanos) {
      this.sinceNanos = sinceNanos;
    }

    boolean isWhole() {
      return accepted != null && heardOf.size() >= accepted.recipients().size();
    }
  }

  Stories(long nowNanos) {
    newestWholeNanos = nowNanos - LONGEST.toNanos();
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
          add(told, accepted.message(), story);
        }
        case DeliveryEvent.Attempted attempted -> {
          Story story = story(attempted.message(), nowNanos);
          story.heardOf.add(attempted.device());
          add(told, attempted.message(), story);
        }
        case DeliveryEvent.Ended ended -> {
          Story story = story(ended.message(), nowNanos);
          story.heardOf.add(ended.device());
          add(told, ended.message(), story);
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
    return open.computeIfAbsent(message, _ -> new Story(nowNanos));
  }

  private void add(Told told, MessageId message, Story story) {
    story.told.add(told);
    if (story.isWhole()) {
      open.remove(message);
      ready.addAll(story.told);
      newestWholeNanos = Math.max(newestWholeNanos, story.sinceNanos);
    }
  }

  /// What is to be written now.
  ///
  /// @param full whether as much is in hand as there may be: ends then lie in their queue, and only order tells who is slow
  List<Told> due(long nowNanos, boolean full) {
    long nobodyWaitsFor = nobodyWaitsFor(nowNanos, full);
    for (Iterator<Story> stories = open.values().iterator(); stories.hasNext(); ) {
      Story story = stories.next();
      // Where the acceptance is not here it was written long ago, as a rule.
      if (story.accepted == null || story.sinceNanos <= nobodyWaitsFor) {
        ready.addAll(story.told);
        stories.remove();
      }
    }
    List<Told> due = ready;
    ready = new ArrayList<>();
    return due;
  }

  private long nobodyWaitsFor(long nowNanos, boolean full) {
    if (!full) {
      return Math.max(newestWholeNanos, nowNanos - LONGEST.toNanos()) - OVERTAKEN.toNanos();
    }
    // Nothing more comes before something is written.
    return ready.isEmpty() ? nowNanos : newestWholeNanos - OVERTAKEN.toNanos();
  }
}
