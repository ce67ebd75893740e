package io.pushplanet.gateway.delivery;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Confirms;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.delivery.MoveStore.Moves;
import io.pushplanet.gateway.delivery.MoveStore.Written;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.parcel.Parcel;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Writes for an [Outbox] what moves messages, on a thread of its own: one write at a time, and the
/// next write takes all that was gathered meanwhile. Events about moved messages leave after the
/// write. Thread-safe.
final class OutboxWriter {
  private final MoveStore moves;
  private final Confirms confirms;
  private final DatabasePermits databasePermits;
  private final Consumer<List<Parcel>> onParked;

  @GuardedBy("this")
  private ToStore toStore = new ToStore();

  @GuardedBy("this")
  private boolean writing;

  @GuardedBy("this")
  private @Nullable Throwable failure;

  /// What MySQL is to store, and the events about it.
  private static final class ToStore {
    final Moves moves = new Moves();
    final List<DeliveryEvent> events = new ArrayList<>();
  }

  /// @param onParked is given the parcels that lie in inboxes now
  OutboxWriter(
      MoveStore moves,
      Confirms confirms,
      DatabasePermits databasePermits,
      Consumer<List<Parcel>> onParked) {
    this.moves = moves;
    this.confirms = confirms;
    this.databasePermits = databasePermits;
    this.onParked = onParked;
  }

  synchronized void park(Parcel parcel, DeliveryEvent event) {
    toStore.moves.parked().add(parcel);
    toStore.events.add(event);
  }

  synchronized void takeOut(Parcel parcel, DeliveryEvent event) {
    toStore.moves.taken().add(parcel);
    toStore.events.add(event);
  }

  synchronized void keep(Later later, DeliveryEvent event) {
    keep(later);
    toStore.events.add(event);
  }

  synchronized void keep(Later later) {
    toStore.moves.waiting().add(later);
  }

  /// Starts to write what has been gathered so far.
  ///
  /// @throws IllegalStateException when an earlier part may not be durable
  synchronized void start() {
    throwIfFailed();
    if (!writing && !toStore.moves.isEmpty()) {
      Thread.ofVirtual().name("outbox").start(this::writeAll);
      writing = true;
    }
  }

  private void writeAll() {
    try {
      for (ToStore next = next(); next != null; next = next()) {
        List<Parcel> there = write(next);
        if (!there.isEmpty()) {
          onParked.accept(there);
        }
      }
    } catch (Throwable e) {
      // Also an Error: `await` waits for this.
      fail(e);
    }
  }

  /// First what moves messages, then the events about it. What MySQL does not take, the broker
  /// keeps as owed.
  ///
  /// @return the parcels that lie in inboxes now
  private List<Parcel> write(ToStore next) {
    Written written = databasePermits.withPermit(() -> moves.writeOrOwe(next.moves));
    written
        .owed()
        .forEach(one -> confirms.publish(Topology.OWED, WireForm.write(Owed.Item.of(one))));
    next.events.forEach(event -> confirms.publish(Topology.EVENTS, WireForm.write(event)));
    return written.parked();
  }

  private synchronized @Nullable ToStore next() {
    if (toStore.moves.isEmpty()) {
      writing = false;
      notifyAll();
      return null;
    }
    ToStore next = toStore;
    toStore = new ToStore();
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

  /// Returns when everything is written that was to be written at the last start.
  ///
  /// @throws IllegalStateException when some of it may not be durable
  synchronized void await() {
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

  /// Returns when no write is under way, also when the thread is interrupted.
  synchronized void awaitEnd() {
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
}
