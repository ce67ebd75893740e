package io.pushplanet.gateway.inbox;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.gateway.database.Deadlocks;
import io.pushplanet.gateway.database.Transactions;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/// Deletes rows of the table `inbox`. Thread-safe.
final class InboxRows {
  /// A message for the users of thousands of devices has a row for each. All at once these would be
  /// megabytes, and would lock the devices for as long as that takes.
  static final int AT_ONCE = 200;

  /// The index is forced, as in all statements of this package that lock rows of the inbox: on a
  /// short table MySQL would read all rows, and wait for those that others have locked.
  private static final String DELETE = "DELETE inbox FROM inbox FORCE INDEX (PRIMARY) WHERE %s";

  private static final String ONE_MESSAGE =
      "(app_id = ? AND device_id = ? AND slot = ? AND message_id = ?)";

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;

  /// A row without its payload.
  record Row(AppId app, DeviceId device, String slot, MessageId message) {
    private static final Comparator<Row> BY_KEY =
        Comparator.comparing(Row::app).thenComparing(Row::device).thenComparing(Row::slot);

    static Row of(Parked parked) {
      return new Row(parked.push().app(), parked.device(), parked.slot(), parked.push().id());
    }
  }

  InboxRows(DataSource database) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
  }

  /// Deletes exactly these messages in one commit, so that they wait for the disk once. A newer
  /// message in the same slot stays.
  ///
  /// @throws RuntimeException when the database is away: some rows may still be there
  void delete(Collection<Row> rows) {
    if (rows.isEmpty()) {
      return;
    }
    List<Row> sorted = rows.stream().sorted(Row.BY_KEY).toList();
    Deadlocks.retrying(() -> transactions.executeWithoutResult(_ -> deleteSorted(sorted)));
  }

  private void deleteSorted(List<Row> rows) {
    rows.stream()
        .gather(Gatherers.windowFixed(AT_ONCE))
        .forEach(some -> {
          List<Object> keys = new ArrayList<>();
          some.forEach(row ->
              Collections.addAll(
                  keys,
                  row.app().value(),
                  row.device().value(),
                  row.slot(),
                  row.message().value()));
          database.update(
              DELETE.formatted(String.join(" OR ", Collections.nCopies(some.size(), ONE_MESSAGE))),
              keys.toArray());
        });
  }
}
