package io.pushplanet.gateway.parcel;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.delivery.Channel;
import java.time.Duration;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/// The parcels of a batch that went to a node before, while they wait for their turn at a provider.
/// A parcel that ends meanwhile is not sent: its device may acknowledge late, or its message may be
/// cancelled. The thread that waits for the batch checks all of them together, so that no thread
/// with a permit waits for the database. One batch of a worker checks at a time. Thread-safe.
public final class Fallbacks {
  /// Between two checks of a batch, if no other batch is checking. What a node tells is in the
  /// database after some tenths of a second.
  private static final Duration CHECK_EVERY = Duration.ofMillis(500);

  private final SettledBefore settledBefore;
  private final Semaphore checks;
  private final Consumer<Parcel> calledOff;
  private final Consumer<Parcel> cancelled;
  private final boolean none;

  @GuardedBy("this")
  private final Set<Parcel> waiting = identities(List.of());

  @GuardedBy("this")
  private final Set<Parcel> ended = identities(List.of());

  /// Confined to the thread that waits for the batch.
  private long checkedNanos = System.nanoTime();

  /// @param parcels that were checked a moment ago
  /// @param checks a permit for each batch that may check at a time, shared by all
  /// @param calledOff is given each parcel that is not sent because its device acknowledged
  /// @param cancelled is given each parcel that is not sent because its message was cancelled
  public Fallbacks(
      List<Parcel> parcels,
      SettledBefore settledBefore,
      Semaphore checks,
      Consumer<Parcel> calledOff,
      Consumer<Parcel> cancelled) {
    this.settledBefore = settledBefore;
    this.checks = checks;
    this.calledOff = calledOff;
    this.cancelled = cancelled;
    for (Parcel parcel : parcels) {
      if (parcel.push().tried().contains(Channel.MQTT)) {
        waiting.add(parcel);
      }
    }
    this.none = waiting.isEmpty();
  }

  /// Whether there is nothing to check.
  public boolean isEmpty() {
    return none;
  }

  /// Checks the waiting parcels. To be called several times a second by one thread. Blocks.
  public void check() {
    if (none || System.nanoTime() - checkedNanos < CHECK_EVERY.toNanos() || !checks.tryAcquire()) {
      return;
    }
    try {
      List<Parcel> asked;
      synchronized (this) {
        asked = List.copyOf(waiting);
      }
      settle(asked, settledBefore.check(asked));
      checkedNanos = System.nanoTime();
    } finally {
      checks.release();
    }
  }

  private synchronized void settle(List<Parcel> asked, SettledBefore.Checked checked) {
    Set<Parcel> left = identities(checked.left());
    for (Parcel parcel : asked) {
      if (!left.contains(parcel) && waiting.contains(parcel)) {
        ended.add(parcel);
      }
    }
    for (Parcel parcel : checked.calledOff()) {
      if (waiting.contains(parcel)) {
        calledOff.accept(parcel);
      }
    }
    for (Parcel parcel : checked.cancelled()) {
      if (waiting.contains(parcel)) {
        cancelled.accept(parcel);
      }
    }
    waiting.removeAll(ended);
  }

  /// These parcels wait no longer.
  ///
  /// @param request loses the parcels that ended meanwhile
  public void leave(List<Parcel> request) {
    if (none) {
      return;
    }
    synchronized (this) {
      for (Parcel parcel : request) {
        waiting.remove(parcel);
      }
      request.removeAll(ended);
    }
  }

  /// Compares parcels by identity: comparing their content takes long.
  private static Set<Parcel> identities(List<Parcel> parcels) {
    Set<Parcel> identities = Collections.newSetFromMap(new IdentityHashMap<>());
    identities.addAll(parcels);
    return identities;
  }
}
