package io.pushplanet.gateway.delivery;

import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.delivery.MoveStore.Moves;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.parcel.SettledBefore;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.dao.DataAccessException;

/// Writes what was owed to MySQL ([Owed]) once MySQL is back. It sends nothing, and leaves out what
/// ended or was cancelled meanwhile. Thread-safe; calls block.
final class OwedMoves {
  private final SettledBefore settledBefore;
  private final MqttDelivery overMqtt;
  private final MoveStore store;
  private final Outboxes outboxes;
  private final DatabasePermits databasePermits;

  OwedMoves(
      SettledBefore settledBefore,
      MqttDelivery overMqtt,
      MoveStore store,
      Outboxes outboxes,
      DatabasePermits databasePermits) {
    this.settledBefore = settledBefore;
    this.overMqtt = overMqtt;
    this.store = store;
    this.outboxes = outboxes;
    this.databasePermits = databasePermits;
  }

  /// Writes what MySQL could not take when a batch was delivered; acknowledge it afterwards.
  ///
  /// @param body a batch of [Owed.Item] in wire form
  /// @return what can never be handled; all else is durable
  /// @throws io.pushplanet.common.wire.MalformedWire when it is not a batch
  /// @throws RuntimeException while MySQL or the broker is away: hand the batch out again
  List<DeadItem> write(byte[] body) {
    List<DeadItem> dead = new ArrayList<>();
    List<Owed> owed =
        WireForm.readBatch(body, Owed.Item.class, dead::add).stream().map(Owed.Item::owed).toList();
    if (!store.mayTry()) {
      // While MySQL hangs this would hold permits that deliveries need.
      throw new IllegalStateException("MySQL is not tried just now");
    }
    try (Outbox outbox = outboxes.outbox(databasePermits)) {
      Moves left = databasePermits.withPermit(() -> left(owed, outbox));
      databasePermits.withPermit(() -> store.write(left));
      overMqtt.lookIntoInbox(left.parked(), outbox);
      outbox.settle();
    }
    return dead;
  }

  private Moves left(List<Owed> owed, Outbox outbox) {
    Map<Owed, List<Parcel>> parcels = new IdentityHashMap<>();
    owed.forEach(one -> parcels.put(one, parcels(one)));
    SettledBefore.Checked checked = check(parcels.values().stream().flatMap(List::stream).toList());
    checked.cancelled().forEach(outbox::cancel);
    Set<Parcel> wanted = Collections.newSetFromMap(new IdentityHashMap<>());
    wanted.addAll(checked.left());
    Moves moves = new Moves();
    parcels.forEach((one, some) -> {
      List<Parcel> still = some.stream().filter(wanted::contains).toList();
      switch (one) {
        case Owed.Park _ -> moves.parked().addAll(still);
        case Owed.Wait(Later later) -> {
          if (!still.isEmpty()) {
            moves.waiting().add(later);
          }
        }
      }
    });
    return moves;
  }

  /// Unlike a delivery, this does not go on without an answer: a message that was cancelled would
  /// be delivered later.
  private SettledBefore.Checked check(List<Parcel> parcels) {
    try {
      return settledBefore.mustCheck(parcels);
    } catch (DataAccessException e) {
      store.gotNoAnswer();
      throw e;
    }
  }

  private static List<Parcel> parcels(Owed owed) {
    return owed.push().recipients().stream()
        .map(recipient -> new Parcel(owed.push(), recipient, true))
        .toList();
  }
}
