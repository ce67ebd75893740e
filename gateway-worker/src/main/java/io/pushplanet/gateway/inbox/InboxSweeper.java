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
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.inbox.InboxRows.Row;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;

/// Ends parked messages that have outlived their time to live: publishes `expired`, then deletes
/// the row. Several workers may run it: when two of them publish the same end, it counts once.
/// Thread-safe.
public final class InboxSweeper {
  /// Rows per sweep.
  public static final int MAX_ROWS = 500;

  static final String EXPIRED =
      """
      SELECT app_id, device_id, slot, message_id FROM inbox WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
      """;

  private final JdbcTemplate database;
  private final InboxRows inbox;
  private final LanePublisher lanes;
  private final Clock clock;

  public InboxSweeper(DataSource database, LanePublisher lanes, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.inbox = new InboxRows(database);
    this.lanes = lanes;
    this.clock = clock;
  }

  /// Sweeps once.
  ///
  /// @return how many rows ended; at [#MAX_ROWS] there may be more
  /// @throws RuntimeException when the database or the broker is away: nothing is lost, call again
  public int sweep() {
    Instant now = clock.instant();
    List<Row> rows =
        database.query(
            EXPIRED,
            (row, number) ->
                new Row(
                    new AppId(row.getString("app_id")),
                    new DeviceId(row.getString("device_id")),
                    row.getString("slot"),
                    new MessageId(row.getString("message_id"))),
            Timestamp.from(now),
            MAX_ROWS);
    if (rows.isEmpty()) {
      return 0;
    }
    lanes.publishAndWait(
        Topology.EVENTS, rows.stream().map(row -> WireForm.write(expired(row, now))).toList());
    inbox.delete(rows);
    return rows.size();
  }

  private static DeliveryEvent expired(Row row, Instant now) {
    Attempt attempt =
        Attempt.expired(Channel.MQTT, now, "ttl", "the device did not connect in time");
    return new DeliveryEvent.Ended(
        row.app(), now, row.message(), row.device(), DeliveryState.EXPIRED, attempt);
  }
}
