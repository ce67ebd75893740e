package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.AppId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// A row of `deliveries` while events are applied to it. Confined to the transaction that locked
/// it.
final class DeliveryRow {
  /// Beyond this number the older attempts are left out.
  static final int MAX_ATTEMPTS = 20;

  private static final Set<String> ENDS =
      Arrays.stream(DeliveryState.values())
          .map(DeliveryState::word)
          .collect(Collectors.toUnmodifiableSet());

  final AppId app;
  final Instant queuedAt;

  /// Oldest first.
  final List<Attempt> attempts;

  /// Whether the row is not in the table yet.
  final boolean isNew;

  DeliveryState state = DeliveryState.QUEUED;
  @Nullable Channel channel;
  @Nullable String reason;
  int duplicates;
  @Nullable Instant finishedAt;
  @Nullable Instant displayedAt;
  @Nullable Instant openedAt;
  boolean changed;

  DeliveryRow(AppId app, Instant queuedAt, List<Attempt> attempts, boolean isNew) {
    this.app = app;
    this.queuedAt = queuedAt;
    this.attempts = new ArrayList<>(attempts);
    this.isNew = isNew;
    this.changed = isNew;
  }

  /// Adds an attempt in the order of their times: events come from several processes and lanes, and
  /// may overtake each other.
  ///
  /// @return false when this very attempt is there already, because its event came twice
  boolean add(Attempt attempt) {
    if (attempts.contains(attempt)) {
      return false;
    }
    int place = attempts.size();
    while (place > 0 && attempts.get(place - 1).at().isAfter(attempt.at())) {
      place--;
    }
    attempts.add(place, attempt);
    if (attempts.size() > MAX_ATTEMPTS) {
      leaveOutOldest();
    }
    changed = true;
    return true;
  }

  /// Leaves out attempts between the first, which tells how the delivery began, and the last ones.
  /// An end is never left out: if its event came twice, it would count twice.
  private void leaveOutOldest() {
    int oldest =
        IntStream.range(1, attempts.size())
            .filter(place -> !ENDS.contains(attempts.get(place).result()))
            .findFirst()
            .orElse(1);
    attempts.remove(oldest);
  }
}
