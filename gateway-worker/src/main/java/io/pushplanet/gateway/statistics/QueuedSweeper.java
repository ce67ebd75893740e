package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import java.sql.Connection;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/// Ends deliveries that no other part will: they are still `queued` an hour after their message's
/// time to live, and in no inbox. A message in `later` or in a broadcast's list is left to the
/// parts that end it there. Such deliveries remain when a send was answered `503` after the broker
/// had taken its acceptance but not its pushes.
///
/// Their ends are published behind all earlier events, with the time at which the message expired:
/// an end that is published twice is the same event, and a device's late acknowledgement replaces
/// it. One worker at a time; not thread-safe.
final class QueuedSweeper {
  /// Messages per sweep.
  static final int MAX_MESSAGES = 100;

  /// Of a message's deliveries per statement, in whatever state: reading all deliveries of a
  /// broadcast at once would take longer than the driver waits.
  static final int MAX_DEVICES = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(QueuedSweeper.class);

  /// MySQL's clock decides, as it does when partitions are dropped.
  static final String OPEN =
      """
      SELECT id, app_id, open_until FROM messages FORCE INDEX (messages_by_open)
      WHERE open_until >= ? AND open_until < UTC_TIMESTAMP(3) - INTERVAL 1 HOUR AND (open_until > ? OR id > ?)
      ORDER BY open_until, id LIMIT ?
      """;

  static final String WAITS =
      """
      SELECT EXISTS (SELECT 1 FROM later WHERE app_id = ? AND message_id = ?)
        OR EXISTS (SELECT 1 FROM broadcast_devices WHERE app_id = ? AND message_id = ?)
      """;

  static final String DELIVERIES =
      """
      SELECT device_id, state FROM deliveries FORCE INDEX (PRIMARY)
      WHERE day = ? AND message_id = ? AND device_id > ? ORDER BY device_id LIMIT ?
      """;

  static final String PARKED =
      "SELECT device_id FROM inbox WHERE app_id = ? AND message_id = ? AND device_id IN (%s)";

  private static final String CLOSE =
      """
      UPDATE messages SET open_until = NULL
      WHERE day = ? AND id = ? AND recipients <= delivered + failed + expired + cancelled
      """;

  private final Leader leader;
  private final LanePublisher lanes;
  private Open last = Open.NONE;

  /// A message that has queued deliveries.
  private record Open(MessageId id, AppId app, Instant until) {
    static final Open NONE =
        new Open(
            new MessageId("00000000-0000-7000-8000-000000000000"),
            new AppId("none"),
            Instant.EPOCH);
  }

  private record Row(String device, String state) {
    boolean isQueued() {
      return state.equals(DeliveryState.QUEUED.word());
    }
  }

  QueuedSweeper(DataSource database, LanePublisher lanes) {
    this.leader = new Leader(database, "queued-sweeper");
    this.lanes = lanes;
  }

  /// Continues where the last sweep ended, or behind the message at which it failed.
  ///
  /// @return whether there may be more
  /// @throws RuntimeException when the database or the broker is away: nothing is lost, call again
  boolean sweep() {
    return leader.lead(false, this::sweep);
  }

  private boolean sweep(Connection connection) {
    JdbcTemplate sql = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
    Timestamp from = Timestamp.from(last.until());
    List<Open> page =
        sql.query(
            OPEN,
            (row, _) ->
                new Open(
                    new MessageId(row.getString("id")),
                    new AppId(row.getString("app_id")),
                    row.getTimestamp("open_until").toInstant()),
            from,
            from,
            last.id().value(),
            MAX_MESSAGES);
    int ended = 0;
    for (Open message : page) {
      // Set first: after a failure the next sweep continues behind this message, and the next round
      // comes back to it.
      last = message;
      ended += waits(sql, message) ? 0 : end(sql, message);
    }
    if (ended > 0) {
      LOG.info("event=queued_expired deliveries={}", ended);
    }
    boolean more = page.size() == MAX_MESSAGES;
    if (!more) {
      last = Open.NONE;
    }
    return more;
  }

  private static boolean waits(JdbcTemplate sql, Open message) {
    String app = message.app().value();
    String id = message.id().value();
    return Boolean.TRUE.equals(sql.queryForObject(WAITS, Boolean.class, app, id, app, id));
  }

  /// @return how many deliveries it ended
  private int end(JdbcTemplate sql, Open message) {
    int ended = 0;
    boolean open = false;
    List<Row> page;
    String after = "";
    do {
      page =
          sql.query(
              DELIVERIES,
              (row, _) -> new Row(row.getString("device_id"), row.getString("state")),
              message.id().day(),
              message.id().value(),
              after,
              MAX_DEVICES);
      List<String> queued = page.stream().filter(Row::isQueued).map(Row::device).toList();
      if (!queued.isEmpty()) {
        open = true;
        Set<String> parked = parked(sql, message, queued);
        List<byte[]> told =
            queued.stream()
                .filter(one -> !parked.contains(one))
                .map(one -> WireForm.write(expired(message, new DeviceId(one))))
                .toList();
        lanes.publishAndWait(Topology.EVENTS, told);
        ended += told.size();
      }
      after = page.isEmpty() ? after : page.getLast().device();
    } while (page.size() == MAX_DEVICES);
    if (!open) {
      // A worker of an older version, which does not know the column, ended the last of them.
      sql.update(CLOSE, message.id().day(), message.id().value());
    }
    return ended;
  }

  private static Set<String> parked(JdbcTemplate sql, Open message, List<String> devices) {
    List<Object> values = new ArrayList<>(List.of(message.app().value(), message.id().value()));
    values.addAll(devices);
    String marks = String.join(", ", Collections.nCopies(devices.size(), "?"));
    return new HashSet<>(
        sql.query(
            PARKED.formatted(marks), (row, _) -> row.getString("device_id"), values.toArray()));
  }

  private static DeliveryEvent expired(Open message, DeviceId device) {
    Attempt attempt =
        Attempt.expired(null, message.until(), "ttl", "nothing was heard of it in time");
    return new DeliveryEvent.Ended(
        message.app(), message.until(), message.id(), device, DeliveryState.EXPIRED, attempt);
  }
}
