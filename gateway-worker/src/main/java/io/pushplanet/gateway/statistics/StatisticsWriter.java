package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.database.Transactions;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/// Writes events in one transaction: locks their rows, lets the [Ledger] do the bookkeeping, and
/// writes the changes in sorted bulk statements. [Uplinks] follow in another transaction. Writing
/// an event twice has the effect of writing it once. Thread-safe.
///
/// An acceptance is nearly always the first event of its rows, so they are inserted without looking
/// for them. Only when a row is there after all does the transaction begin again, with a look at
/// each.
public final class StatisticsWriter {
  private static final int ROWS_PER_SELECT = 200;
  private static final int MAX_TRIES = 5;

  static final String LOCK_ROWS =
      """
      SELECT message_id, device_id, app_id, state, channel, reason, attempts, duplicates, queued_at, finished_at,
        displayed_at, opened_at
      FROM deliveries WHERE %s FOR UPDATE
      """;
  static final String ONE_ROW = "(day = ? AND message_id = ? AND device_id = ?)";

  private static final String INTO_DELIVERIES =
      """
      INSERT INTO deliveries (state, channel, reason, attempts, duplicates, finished_at, displayed_at, opened_at,
        day, message_id, device_id, app_id, queued_at)\
      """;
  private static final BulkInsert INSERT_ROWS = new BulkInsert(INTO_DELIVERIES, 13, "");
  private static final BulkInsert UPDATE_ROWS =
      new BulkInsert(
          INTO_DELIVERIES,
          13,
          """
          ON DUPLICATE KEY UPDATE state = VALUES(state), channel = VALUES(channel), reason = VALUES(reason),
            attempts = VALUES(attempts), duplicates = VALUES(duplicates), finished_at = VALUES(finished_at),
            displayed_at = VALUES(displayed_at), opened_at = VALUES(opened_at)
          """);

  /// Events of a message may come before its acceptance: its row then has empty texts until that
  /// arrives. In MySQL, an assignment sees the values that earlier ones have assigned.
  private static final BulkInsert CHANGE_MESSAGES =
      new BulkInsert(
          """
          INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at, expanded_at,
            recipients, delivered, failed, expired, cancelled, duplicates, opened, open_until)\
          """,
          17,
          """
          ON DUPLICATE KEY UPDATE
            accepted_at = IF(VALUES(audience) = '', accepted_at, VALUES(accepted_at)),
            expires_at = IF(VALUES(audience) = '', expires_at, VALUES(expires_at)),
            content = IF(VALUES(audience) = '', content, VALUES(content)),
            delivery = IF(VALUES(audience) = '', delivery, VALUES(delivery)),
            audience = IF(VALUES(audience) = '', audience, VALUES(audience)),
            expanded_at = COALESCE(expanded_at, VALUES(expanded_at)),
            recipients = recipients + VALUES(recipients), delivered = delivered + VALUES(delivered),
            failed = failed + VALUES(failed), expired = expired + VALUES(expired),
            cancelled = cancelled + VALUES(cancelled), duplicates = duplicates + VALUES(duplicates),
            opened = opened + VALUES(opened),
            open_until = IF(audience <> '' AND recipients > delivered + failed + expired + cancelled, expires_at, NULL)
          """);

  private static final BulkInsert COUNT_MINUTES =
      new BulkInsert(
          "INSERT INTO statistics_minutes (day, minute, app_id, channel, outcome, reason, count)",
          7,
          "ON DUPLICATE KEY UPDATE count = count + VALUES(count)");

  /// Puts events that others of the same bulk depend on first.
  private static final Comparator<DeliveryEvent> CAUSES_FIRST =
      Comparator.comparingInt(event ->
          switch (event) {
            case DeliveryEvent.Accepted accepted -> 0;
            case DeliveryEvent.Expanded expanded -> 1;
            case DeliveryEvent.Attempted attempted -> 2;
            case DeliveryEvent.Ended ended -> 3;
            case DeliveryEvent.Receipt receipt -> 4;
            case DeliveryEvent.Uplink uplink -> 5;
          });

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final Uplinks uplinks;
  private volatile boolean newsIsNew = true;

  public StatisticsWriter(DataSource database) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
    this.uplinks = new Uplinks(database);
  }

  /// @return the events that are not written (yet): receipts whose delivery is not in the table,
  ///     and uplinks of apps that another writer has locked
  /// @throws org.springframework.dao.DataAccessException when uplinks, or all events, were not
  ///     written
  public List<DeliveryEvent> write(List<DeliveryEvent> events) {
    List<DeliveryEvent> others = new ArrayList<>();
    List<DeliveryEvent.Uplink> fromDevices = new ArrayList<>();
    for (DeliveryEvent event : events) {
      if (event instanceof DeliveryEvent.Uplink uplink) {
        fromDevices.add(uplink);
      } else {
        others.add(event);
      }
    }
    List<DeliveryEvent> unwritten = new ArrayList<>();
    if (!others.isEmpty()) {
      unwritten.addAll(writeDeliveries(others));
    }
    unwritten.addAll(uplinks.write(fromDevices));
    return unwritten;
  }

  private List<DeliveryEvent.Receipt> writeDeliveries(List<DeliveryEvent> events) {
    List<DeliveryEvent> ordered = new ArrayList<>(events);
    ordered.sort(CAUSES_FIRST);
    boolean trusting = newsIsNew;
    for (int tried = 1; ; tried++) {
      boolean unseen = trusting && tried == 1;
      try {
        List<DeliveryEvent.Receipt> early =
            transactions.execute(status -> writeInTransaction(ordered, unseen));
        return early == null ? List.of() : early;
      } catch (ConcurrencyFailureException | DuplicateKeyException e) {
        // Another worker wrote one of these rows meanwhile (or MySQL chose this transaction in a
        // deadlock), or a row was there that should have been new: look again.
        if (tried == MAX_TRIES) {
          throw e;
        }
      }
    }
  }

  /// @param unseen whether rows of messages that were just accepted count as new without a look
  private List<DeliveryEvent.Receipt> writeInTransaction(
      List<DeliveryEvent> events, boolean unseen) {
    Set<DeliveryKey> told = new HashSet<>();
    Set<DeliveryKey> news = new HashSet<>();
    keys(events, told, news);
    if (unseen) {
      told.removeAll(news);
    } else {
      told.addAll(news);
    }
    Map<DeliveryKey, DeliveryRow> present = lock(new TreeSet<>(told));
    if (!unseen) {
      newsIsNew = Collections.disjoint(news, present.keySet());
    }
    Ledger ledger = new Ledger(present);
    events.forEach(ledger::apply);
    List<@Nullable Object[]> inserted = new ArrayList<>();
    List<@Nullable Object[]> updated = new ArrayList<>();
    ledger
        .changedRows()
        .forEach((key, row) -> (row.isNew ? inserted : updated).add(values(key, row)));
    List<@Nullable Object[]> messages = new ArrayList<>();
    ledger.messages().forEach((id, change) -> messages.add(values(id, change)));
    List<@Nullable Object[]> minutes = new ArrayList<>();
    ledger.minutes().forEach((minute, count) -> minutes.add(values(minute, count)));
    database.execute(
        (ConnectionCallback<@Nullable Void>)
            connection -> {
              INSERT_ROWS.write(connection, inserted);
              UPDATE_ROWS.write(connection, updated);
              CHANGE_MESSAGES.write(connection, messages);
              COUNT_MINUTES.write(connection, minutes);
              return null;
            });
    return ledger.withoutRow();
  }

  /// @param told gets the rows that the events are about
  /// @param news gets the rows that should not be there yet
  private static void keys(
      List<DeliveryEvent> events, Set<DeliveryKey> told, Set<DeliveryKey> news) {
    for (DeliveryEvent event : events) {
      switch (event) {
        case DeliveryEvent.Accepted accepted ->
            accepted
                .recipients()
                .forEach(device -> news.add(new DeliveryKey(accepted.message(), device)));
        case DeliveryEvent.Expanded expanded ->
            expanded
                .recipients()
                .forEach(device -> news.add(new DeliveryKey(expanded.message(), device)));
        case DeliveryEvent.Attempted attempted ->
            told.add(new DeliveryKey(attempted.message(), attempted.device()));
        case DeliveryEvent.Ended ended ->
            told.add(new DeliveryKey(ended.message(), ended.device()));
        case DeliveryEvent.Receipt receipt ->
            told.add(new DeliveryKey(receipt.message(), receipt.device()));
        case DeliveryEvent.Uplink uplink -> {}
      }
    }
  }

  private Map<DeliveryKey, DeliveryRow> lock(SortedSet<DeliveryKey> keys) {
    Map<DeliveryKey, DeliveryRow> rows = HashMap.newHashMap(keys.size());
    keys.stream()
        .gather(Gatherers.windowFixed(ROWS_PER_SELECT))
        .forEach(some -> {
          List<Object> arguments = new ArrayList<>(3 * some.size());
          for (DeliveryKey key : some) {
            Collections.addAll(
                arguments, key.message().day(), key.message().value(), key.device().value());
          }
          String which = String.join(" OR ", Collections.nCopies(some.size(), ONE_ROW));
          database.query(
              LOCK_ROWS.formatted(which),
              row -> {
                DeliveryKey key =
                    new DeliveryKey(
                        new MessageId(row.getString("message_id")),
                        new DeviceId(row.getString("device_id")));
                rows.put(key, read(row));
              },
              arguments.toArray());
        });
    return rows;
  }

  private static DeliveryRow read(ResultSet found) throws SQLException {
    byte[] attempts = found.getString("attempts").getBytes(StandardCharsets.UTF_8);
    DeliveryRow row =
        new DeliveryRow(
            new AppId(found.getString("app_id")),
            found.getTimestamp("queued_at").toInstant(),
            WireForm.readBatch(attempts, Attempt.class),
            false);
    row.state = DeliveryState.valueOf(found.getString("state").toUpperCase(Locale.ROOT));
    String channel = found.getString("channel");
    row.channel = channel == null ? null : Channel.valueOf(channel.toUpperCase(Locale.ROOT));
    row.reason = found.getString("reason");
    row.duplicates = found.getInt("duplicates");
    row.finishedAt = instant(found.getTimestamp("finished_at"));
    row.displayedAt = instant(found.getTimestamp("displayed_at"));
    row.openedAt = instant(found.getTimestamp("opened_at"));
    return row;
  }

  private static @Nullable Object[] values(DeliveryKey key, DeliveryRow row) {
    return new @Nullable Object[] {
      row.state.word(),
      row.channel == null ? null : row.channel.word(),
      row.reason,
      text(row.attempts),
      row.duplicates,
      row.finishedAt,
      row.displayedAt,
      row.openedAt,
      key.message().day(),
      key.message().value(),
      key.device().value(),
      row.app.value(),
      row.queuedAt
    };
  }

  private static @Nullable Object[] values(MessageId id, MessageChange change) {
    DeliveryEvent.Accepted accepted = change.accepted;
    return new @Nullable Object[] {
      id.day(),
      id.value(),
      change.app.value(),
      accepted == null ? "" : accepted.audience().text(),
      accepted == null ? "" : accepted.content().text(),
      accepted == null ? "" : accepted.delivery().text(),
      accepted == null ? id.time() : accepted.at(),
      accepted == null ? id.time() : accepted.expiresAt(),
      change.expandedAt,
      change.recipients,
      change.delivered,
      change.failed,
      change.expired,
      change.cancelled,
      change.duplicates,
      change.opened,
      accepted == null || change.queued() <= 0 ? null : accepted.expiresAt()
    };
  }

  private static Object[] values(MinuteKey minute, long count) {
    return new Object[] {
      LocalDate.ofInstant(minute.minute(), ZoneOffset.UTC),
      minute.minute(),
      minute.app().value(),
      minute.channel(),
      minute.outcome(),
      minute.reason(),
      count
    };
  }

  private static String text(Object value) {
    return new String(WireForm.write(value), StandardCharsets.UTF_8);
  }

  private static @Nullable Instant instant(@Nullable Timestamp time) {
    return time == null ? null : time.toInstant();
  }
}
