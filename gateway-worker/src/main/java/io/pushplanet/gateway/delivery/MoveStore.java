package io.pushplanet.gateway.delivery;

import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.inbox.Parked;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.parcel.Reachability;
import java.util.ArrayList;
import java.util.List;
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
  private final Reachability reachability;
  private final DeliveryMetrics metrics;

  MoveStore(
      InboxStore inbox, LaterStore later, Reachability reachability, DeliveryMetrics metrics) {
    this.inbox = inbox;
    this.later = later;
    this.reachability = reachability;
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

    List<Owed> owed() {
      List<Owed> owed = new ArrayList<>(Owed.parked(parked));
      waiting.forEach(later -> owed.add(Owed.waiting(later)));
      return owed;
    }
  }

  /// Writes them, if MySQL is there: while it is not, one caller in some seconds finds out.
  ///
  /// @return what is to be written later on; nothing once all of it is durable
  /// @throws RuntimeException when the broker is away
  List<Owed> writeOrOwe(Moves moves) {
    if (mayTry()) {
      try {
        write(moves);
        return List.of();
      } catch (DataAccessException | TransactionException e) {
        LOG.warn("event=moves_owed reason=\"{}\"", e.toString());
      }
    }
    List<Owed> owed = moves.owed();
    metrics.owed(owed.stream().mapToInt(one -> one.push().recipients().size()).sum());
    return owed;
  }

  /// Whether MySQL is worth a try. Whoever hears yes writes, which tells the others, or says that nobody answered.
  boolean mayTry() {
    return reachability.mayAsk();
  }

  /// Who was to write got no answer before that: nobody else tries for a while.
  void gotNoAnswer() {
    reachability.failed();
  }

  /// @throws RuntimeException when a part of it may not be durable; it may be written once more
  void write(Moves moves) {
    try {
      inbox.park(moves.parked().stream().map(MoveStore::inInbox).toList());
      if (!moves.waiting().isEmpty()) {
        later.keep(moves.waiting());
      }
      if (!(moves.parked().isEmpty() && moves.waiting().isEmpty())) {
        reachability.answered();
      }
      inbox.takeOut(moves.taken().stream().map(MoveStore::inInbox).toList());
    } catch (CannotGetJdbcConnectionException | CannotCreateTransactionException e) {
      // Also where all connections are in use: what is owed waits for one, and nobody with it.
      reachability.failed();
      throw e;
    }
  }

  private static Parked inInbox(Parcel parcel) {
    return new Parked(parcel.push(), parcel.recipient().device(), parcel.recipient().user());
  }
}
