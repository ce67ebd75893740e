package io.pushplanet.gateway.delivery;

import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.inbox.Parked;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.parcel.Parcel;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionException;

/// Stores messages that wait: in their devices' inboxes, or in `later`. Messages that MySQL cannot
/// take just now are owed, so that the other messages of their batch are not sent again.
/// Thread-safe; calls block.
final class MoveStore {
  private static final Logger LOG = LoggerFactory.getLogger(MoveStore.class);

  private final InboxStore inbox;
  private final LaterStore later;
  private final DatabaseCircuitBreaker breaker;
  private final DeliveryMetrics metrics;

  MoveStore(
      InboxStore inbox, LaterStore later, DatabaseCircuitBreaker breaker, DeliveryMetrics metrics) {
    this.inbox = inbox;
    this.later = later;
    this.breaker = breaker;
    this.metrics = metrics;
  }

  /// @param parked wait until their devices connect
  /// @param taken were delivered in another way: they are taken out of the inboxes where they lie
  ///     there
  /// @param waiting come back to a lane
  record Moves(List<Parcel> parked, List<Parcel> taken, List<Later> waiting) {
    Moves() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    boolean isEmpty() {
      return parked.isEmpty() && taken.isEmpty() && waiting.isEmpty();
    }
  }

  /// The result of a write.
  ///
  /// @param parked lie in their devices' inboxes now
  /// @param owed must be written later; empty once all is durable
  record Written(List<Parcel> parked, List<Owed> owed) {}

  /// Writes the moves if MySQL is there; while it is not, one caller every few seconds tries.
  /// Parcels that were parked before MySQL went away are not owed: a device that takes such a
  /// message out of its inbox meanwhile would get it twice.
  ///
  /// @throws RuntimeException when the broker is away
  Written writeOrOwe(Moves moves) {
    List<Parcel> parked = new ArrayList<>();
    if (mayTry()) {
      try {
        write(moves, parked::addAll);
        return new Written(parked, List.of());
      } catch (DataAccessException | TransactionException e) {
        LOG.warn("event=moves_owed reason=\"{}\"", e.toString());
      }
    }
    Set<Parcel> durable = Collections.newSetFromMap(new IdentityHashMap<>());
    durable.addAll(parked);
    List<Parcel> left =
        moves.parked().stream().filter(parcel -> !durable.contains(parcel)).toList();
    List<Owed> owed = new ArrayList<>(Owed.parked(left));
    moves.waiting().forEach(later -> owed.add(new Owed.Wait(later)));
    metrics.owed(owed.stream().mapToInt(one -> one.push().recipients().size()).sum());
    return new Written(parked, owed);
  }

  /// Whether MySQL is worth a try. After yes the caller either writes, which reports the result, or
  /// calls [#gotNoAnswer].
  boolean mayTry() {
    return breaker.mayAsk();
  }

  /// A caller that meant to write got no answer before that: no other caller tries for a while.
  void gotNoAnswer() {
    breaker.failed();
  }

  /// @throws RuntimeException when some of it may not be durable; it may be written once more
  void write(Moves moves) {
    write(moves, _ -> {});
  }

  private void write(Moves moves, Consumer<List<Parcel>> durable) {
    Map<Parked, Parcel> parcels = new IdentityHashMap<>();
    List<Parked> messages = new ArrayList<>();
    for (Parcel parcel : moves.parked()) {
      Parked message = inInbox(parcel);
      parcels.put(message, parcel);
      messages.add(message);
    }
    try {
      inbox.park(messages, some -> durable.accept(some.stream().map(parcels::get).toList()));
      if (!moves.waiting().isEmpty()) {
        later.keep(moves.waiting());
      }
      if (!(moves.parked().isEmpty() && moves.waiting().isEmpty())) {
        breaker.answered();
      }
      inbox.takeOut(moves.taken().stream().map(MoveStore::inInbox).toList());
    } catch (CannotGetJdbcConnectionException | CannotCreateTransactionException e) {
      // Also where all connections are in use: then the messages are owed, and no batch waits for a
      // connection.
      breaker.failed();
      throw e;
    }
  }

  private static Parked inInbox(Parcel parcel) {
    return new Parked(parcel.push(), parcel.recipient().device(), parcel.recipient().user());
  }
}
