package io.pushplanet.gateway.inbox;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.DevicePayload;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.cancellation.Cancellations;
import io.pushplanet.gateway.database.Deadlocks;
import io.pushplanet.gateway.database.Transactions;
import io.pushplanet.gateway.inbox.InboxRows.Row;
import io.pushplanet.gateway.registration.Registrations;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.support.TransactionTemplate;

/// The table `inbox`: one row per device and slot, in which the newest message wins. A replaced
/// message is reported as `expired`, reason `collapsed`, before the transaction commits, so that no
/// message disappears without an event. A message for many devices goes to the [BroadcastLog]
/// instead, unless it is for their users: its row ends when the device gets another user, and a
/// list could not. Thread-safe.
public final class InboxStore {
  private static final Logger LOG = LoggerFactory.getLogger(InboxStore.class);

  /// The index is forced as in [InboxRows].
  private static final String LOCK_ROWS =
      "SELECT app_id, device_id, slot, message_id FROM inbox FORCE INDEX (PRIMARY) WHERE %s FOR UPDATE";

  private static final String ONE_ROW = "(app_id = ? AND device_id = ? AND slot = ?)";
  // Locks the row whether or not it was there: of two workers with one slot, the second sees what
  // the first parked.
  private static final String CLAIM_SLOT =
      """
      INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at, user_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE message_id = message_id
      """;
  private static final String UPSERT =
      """
      INSERT INTO inbox (app_id, device_id, slot, message_id, payload, parked_at, expires_at, user_id)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE
        payload = IF(VALUES(message_id) > message_id, VALUES(payload), payload),
        parked_at = IF(VALUES(message_id) > message_id, VALUES(parked_at), parked_at),
        expires_at = IF(VALUES(message_id) > message_id, VALUES(expires_at), expires_at),
        user_id = IF(VALUES(message_id) > message_id, VALUES(user_id), user_id),
        message_id = GREATEST(message_id, VALUES(message_id))
      """;

  private final JdbcTemplate database;
  private final InboxRows rows;
  private final BroadcastLog broadcasts;
  private final Cancellations cancellations;
  private final Registrations registrations;
  private final TransactionTemplate transactions;
  private final LanePublisher lanes;
  private final Clock clock;

  private record Slot(AppId app, DeviceId device, String slot) {}

  public InboxStore(DataSource database, LanePublisher lanes, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.rows = new InboxRows(database);
    this.broadcasts = new BroadcastLog(database, clock);
    this.cancellations = new Cancellations(database);
    this.registrations = new Registrations(database);
    this.transactions = Transactions.readCommitted(database);
    this.lanes = lanes;
    this.clock = clock;
  }

  /// Parks messages, some hundreds at a time; all are durable when this returns.
  ///
  /// @throws RuntimeException when the database or the broker is away. Some may not be durable: do
  ///     not acknowledge
  public void park(Collection<Parked> messages) {
    park(messages, _ -> {});
  }

  /// Like [#park(Collection)].
  ///
  /// @param durable is given some messages as soon as they are durable, also where others cannot be
  ///     parked
  public void park(Collection<Parked> messages, Consumer<Collection<Parked>> durable) {
    if (messages.isEmpty()) {
      return;
    }
    Map<MessageId, List<Parked>> alike = new LinkedHashMap<>();
    List<Parked> few = new ArrayList<>();
    for (Parked parked : messages) {
      List<Parked> mine =
          parked.user() == null
              ? alike.computeIfAbsent(parked.push().id(), message -> new ArrayList<>())
              : few;
      mine.add(parked);
    }
    for (List<Parked> some : alike.values()) {
      if (some.size() < BroadcastLog.FEWEST) {
        few.addAll(some);
      } else {
        Parked one = some.getFirst();
        Deadlocks.retrying(() ->
            broadcasts.append(one.push(), one.slot(), some.stream().map(Parked::device).toList()));
        durable.accept(some);
      }
    }
    few.stream()
        .sorted(Parked.BY_KEY)
        .gather(Gatherers.windowFixed(InboxRows.AT_ONCE))
        .forEach(some -> {
          parkSome(some);
          durable.accept(some);
        });
  }

  private void parkSome(List<Parked> sorted) {
    List<Parked> wanted = withoutCancelledThatDisplace(sorted);
    Instant now = clock.instant();
    Deadlocks.retrying(
        () -> transactions.executeWithoutResult(status -> parkInTransaction(wanted, now)));
    takeOutCancelled(sorted);
  }

  /// A cancelled message with a collapse key would replace the message in its slot, and then leave
  /// the slot empty.
  private List<Parked> withoutCancelledThatDisplace(List<Parked> sorted) {
    Set<MessageId> cancelled =
        cancelled(
            sorted.stream().filter(it -> it.push().delivery().collapseKey() != null).toList());
    return sorted.stream().filter(parked -> !cancelled.contains(parked.push().id())).toList();
  }

  /// A cancellation first marks the message and then takes out its rows; this looks at the message
  /// after the rows are written. One of the two finds them.
  private void takeOutCancelled(List<Parked> sorted) {
    Set<MessageId> cancelled = cancelled(sorted);
    List<Row> late =
        sorted.stream()
            .filter(parked -> cancelled.contains(parked.push().id()))
            .map(Row::of)
            .toList();
    if (late.isEmpty()) {
      return;
    }
    Instant now = clock.instant();
    lanes.publishAndWait(
        Topology.EVENTS,
        late.stream()
            .map(row ->
                WireForm.write(
                    new DeliveryEvent.Ended(
                        row.app(),
                        now,
                        row.message(),
                        row.device(),
                        DeliveryState.CANCELLED,
                        Attempt.cancelled(now))))
            .toList());
    rows.delete(late);
  }

  private Set<MessageId> cancelled(List<Parked> parked) {
    return cancellations.among(parked.stream().map(one -> one.push().id()).toList());
  }

  /// Takes out messages that their devices got in another way. A row that stays, because the
  /// database is away or the device's node has it in hand, causes a repeat at worst; so does a
  /// broadcast, whose lists are never changed.
  public void takeOut(Collection<Parked> messages) {
    try {
      rows.delete(messages.stream().map(Row::of).toList());
    } catch (DataAccessException | TransactionException e) {
      LOG.warn("event=inbox_not_cleared messages={} reason=\"{}\"", messages.size(), e.toString());
    }
  }

  private void parkInTransaction(List<Parked> sorted, Instant now) {
    List<DeliveryEvent> ended = new ArrayList<>();
    List<Parked> theirs = withoutGone(sorted, now, ended);
    Map<MessageId, String> payloads = new HashMap<>();
    theirs.forEach(parked ->
        payloads.computeIfAbsent(parked.push().id(), _ -> DevicePayload.of(parked.push())));
    Map<Slot, MessageId> held = lock(theirs, payloads, now);
    Map<Slot, Parked> newest = new LinkedHashMap<>();
    for (Parked parked : theirs) {
      Slot slot = slot(parked);
      MessageId mine = parked.push().id();
      MessageId other = held.get(slot);
      if (other != null && other.compareTo(mine) > 0) {
        ended.add(collapsed(slot, mine, now));
        continue;
      }
      if (other != null && !other.equals(mine)) {
        ended.add(collapsed(slot, other, now));
      }
      held.put(slot, mine);
      newest.put(slot, parked);
    }
    database.batchUpdate(
        UPSERT, newest.values().stream().map(parked -> values(parked, payloads, now)).toList());
    if (!ended.isEmpty()) {
      lanes.publishAndWait(Topology.EVENTS, ended.stream().map(WireForm::write).toList());
    }
  }

  /// Without the messages of devices that are deleted, and those for users who no longer have the
  /// device. A transaction that deletes a device or gives it another user locks the device's row
  /// and takes out the messages that wait. It has done so by now, or will after these rows are
  /// written.
  private List<Parked> withoutGone(List<Parked> sorted, Instant at, List<DeliveryEvent> ended) {
    Map<DeviceKey, Optional<String>> users =
        registrations.lockUsers(sorted.stream().map(Parked::key).toList());
    List<Parked> theirs = new ArrayList<>();
    for (Parked parked : sorted) {
      Optional<String> now = users.get(parked.key());
      if (now == null) {
        ended.add(failed(parked, "device_deleted", at));
      } else if (parked.user() != null && !now.equals(Optional.of(parked.user()))) {
        ended.add(failed(parked, "user_changed", at));
      } else {
        theirs.add(parked);
      }
    }
    return theirs;
  }

  /// Only slots with a collapse key can hold another message.
  private Map<Slot, MessageId> lock(
      List<Parked> sorted, Map<MessageId, String> payloads, Instant now) {
    Map<Slot, MessageId> held = new HashMap<>();
    List<Parked> collapsing =
        sorted.stream().filter(parked -> parked.push().delivery().collapseKey() != null).toList();
    if (collapsing.isEmpty()) {
      return held;
    }
    database.batchUpdate(
        CLAIM_SLOT, collapsing.stream().map(parked -> values(parked, payloads, now)).toList());
    List<Slot> slots = collapsing.stream().map(InboxStore::slot).distinct().toList();
    List<Object> arguments = new ArrayList<>();
    slots.forEach(slot ->
        Collections.addAll(arguments, slot.app().value(), slot.device().value(), slot.slot()));
    database.query(
        LOCK_ROWS.formatted(String.join(" OR ", Collections.nCopies(slots.size(), ONE_ROW))),
        row -> {
          Slot slot =
              new Slot(
                  new AppId(row.getString("app_id")),
                  new DeviceId(row.getString("device_id")),
                  row.getString("slot"));
          held.put(slot, new MessageId(row.getString("message_id")));
        },
        arguments.toArray());
    return held;
  }

  private static Slot slot(Parked parked) {
    return new Slot(parked.push().app(), parked.device(), parked.slot());
  }

  private static @Nullable Object[] values(
      Parked parked, Map<MessageId, String> payloads, Instant now) {
    return new Object[] {
      parked.push().app().value(),
      parked.device().value(),
      parked.slot(),
      parked.push().id().value(),
      payloads.get(parked.push().id()),
      Timestamp.from(now),
      Timestamp.from(parked.push().expiresAt()),
      parked.user()
    };
  }

  private static DeliveryEvent failed(Parked parked, String reason, Instant now) {
    return new DeliveryEvent.Ended(
        parked.push().app(),
        now,
        parked.push().id(),
        parked.device(),
        DeliveryState.FAILED,
        Attempt.rejected(Channel.MQTT, now, reason));
  }

  private static DeliveryEvent collapsed(Slot slot, MessageId message, Instant now) {
    return new DeliveryEvent.Ended(
        slot.app(),
        now,
        message,
        slot.device(),
        DeliveryState.EXPIRED,
        Attempt.collapsed(Channel.MQTT, now));
  }
}
