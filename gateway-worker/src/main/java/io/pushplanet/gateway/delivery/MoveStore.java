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

/// Where messages wait: in their devices' inboxes and in `later`. What MySQL cannot take just now is owed, so that nobody who shares
/// a lane's message with it is sent to again. Thread-safe; calls block.
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

  /// @param parked they wait until their devices connect
  /// @param taken their devices have them on another way: they are taken out of the inboxes, if they lie there
  /// @param waiting they come back to a lane
  record Moves(List<Parcel> parked, List<Parcel> taken, List<Later> waiting) {
    Moves() {
      this(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    }

    boolean isEmpty() {
      return parked.isEmpty() && taken.isEmpty() && waiting.isEmpty();
    }
  }

  /// What came of moves.
  ///
  /// @param parked lies in its devices' inboxes now
  /// @param owed is to be written later on; nothing once all of it is durable
  record Written(List<Parcel> parked, List<Owed> owed) {}

  /// Writes them, if MySQL is there: while it is not, one caller in some seconds finds out. What was parked before it went is not owed:
  /// a device that takes it out of its inbox meanwhile would get it once more.
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

  /// Whether MySQL is worth a try. Whoever hears yes writes, which tells the others, or says that nobody answered.
  boolean mayTry() {
    return breaker.mayAsk();
  }

  /// Who was to write got no answer before that: nobody else tries for a while.
  void gotNoAnswer() {
    breaker.failed();
  }

  /// @throws RuntimeException when a part of it may not be durable; it may be written once more
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
      // Also where all connections are in use: what is owed waits for one, and nobody with it.
      breaker.failed();
      throw e;
    }
  }

  private static Parked inInbox(Parcel parcel) {
    return new Parked(parcel.push(), parcel.recipient().device(), parcel.recipient().user());
  }
}
