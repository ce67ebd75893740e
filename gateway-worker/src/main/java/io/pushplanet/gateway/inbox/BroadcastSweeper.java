package io.pushplanet.gateway.inbox;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.database.Transactions;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Gatherers;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/// Ends broadcasts that have outlived their time to live or were cancelled. It publishes the end of
/// every device whose position has not passed the list, then deletes the list, and with the last
/// list the payload. Several workers may run it: when two of them publish the same end, it counts
/// once. Thread-safe.
public final class BroadcastSweeper {
  /// Lists per sweep.
  public static final int MAX_LISTS = 20;

  private static final int DEVICES_PER_SELECT = 1_000;
  private static final int MAX_POSITIONS = 1_000;

  /// A list lives at most as long as its message, 28 days. Older positions are never needed.
  private static final Duration POSITION_NEEDED = Duration.ofDays(30);

  static final String EXPIRED =
      """
      SELECT app_id, seq, message_id FROM broadcast_devices WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
      """;
  static final String CANCELLED =
      """
      SELECT d.app_id, d.seq, d.message_id FROM broadcasts b
      JOIN broadcast_devices d ON d.app_id = b.app_id AND d.message_id = b.message_id
      WHERE b.cancelled_at > '2000-01-01' LIMIT ?
      """;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final LanePublisher lanes;
  private final Clock clock;

  private record Place(String app, long seq, String message) {}

  public BroadcastSweeper(DataSource database, LanePublisher lanes, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
    this.lanes = lanes;
    this.clock = clock;
  }

  /// Sweeps once.
  ///
  /// @return how many lists ended; at [#MAX_LISTS] there may be more
  /// @throws RuntimeException when the database or the broker is away: nothing is lost, call again
  public int sweep() {
    Instant now = clock.instant();
    List<Place> cancelled = places(CANCELLED, MAX_LISTS);
    cancelled.forEach(place -> end(place, DeliveryState.CANCELLED, "cancelled", null));
    List<Place> expired = places(EXPIRED, Timestamp.from(now), MAX_LISTS);
    expired.forEach(
        place -> end(place, DeliveryState.EXPIRED, "ttl", "the device did not connect in time"));
    database.update(
        "DELETE FROM broadcast_positions WHERE moved_at < ? ORDER BY moved_at LIMIT ?",
        Timestamp.from(now.minus(POSITION_NEEDED)),
        MAX_POSITIONS);
    return Math.max(cancelled.size(), expired.size());
  }

  private List<Place> places(String sql, Object... arguments) {
    return database.query(
        sql,
        (row, number) ->
            new Place(row.getString("app_id"), row.getLong("seq"), row.getString("message_id")),
        arguments);
  }

  private void end(Place place, DeliveryState state, String reason, @Nullable String action) {
    transactions.executeWithoutResult(_ -> {
      List<DeviceList> lists = lock(place);
      if (!lists.isEmpty()) {
        publish(place, waiting(place, lists.getFirst().devices()), state, reason, action);
        delete(place);
      }
    });
  }

  /// @return empty when another worker has ended the list
  private List<DeviceList> lock(Place place) {
    // Locks the message, so that no worker parks it for another device meanwhile: a new list would
    // need the payload that is deleted with the last list.
    database.queryForList(
        "SELECT message_id FROM broadcasts WHERE app_id = ? AND message_id = ? FOR UPDATE",
        String.class,
        place.app(),
        place.message());
    return database.query(
        "SELECT devices FROM broadcast_devices WHERE app_id = ? AND seq = ? FOR UPDATE",
        (row, _) -> new DeviceList(row.getString("devices")),
        place.app(),
        place.seq());
  }

  /// The devices whose positions have not passed the list.
  private List<DeviceId> waiting(Place place, List<DeviceId> devices) {
    Map<String, Long> positions = new HashMap<>();
    devices.stream()
        .gather(Gatherers.windowFixed(DEVICES_PER_SELECT))
        .forEach(some -> {
          List<Object> arguments = new ArrayList<>();
          arguments.add(place.app());
          some.forEach(device -> arguments.add(device.value()));
          database.query(
              "SELECT device_id, seq FROM broadcast_positions WHERE app_id = ? AND device_id IN (%s)"
                  .formatted(String.join(", ", Collections.nCopies(some.size(), "?"))),
              row -> {
                positions.put(row.getString("device_id"), row.getLong("seq"));
              },
              arguments.toArray());
        });
    return devices.stream()
        .filter(device -> positions.getOrDefault(device.value(), 0L) < place.seq())
        .toList();
  }

  private void publish(
      Place place,
      List<DeviceId> devices,
      DeliveryState state,
      String reason,
      @Nullable String action) {
    Instant now = clock.instant();
    Attempt attempt = Attempt.fromInbox(now, state, reason, action);
    lanes.publishAndWait(
        Topology.EVENTS,
        devices.stream()
            .map(device ->
                WireForm.write(
                    new DeliveryEvent.Ended(
                        new AppId(place.app()),
                        now,
                        new MessageId(place.message()),
                        device,
                        state,
                        attempt)))
            .toList());
  }

  /// Deletes the list, and the payload with the message's last list.
  private void delete(Place place) {
    database.update(
        "DELETE FROM broadcast_devices WHERE app_id = ? AND seq = ?", place.app(), place.seq());
    boolean last =
        database
            .queryForList(
                "SELECT seq FROM broadcast_devices WHERE app_id = ? AND message_id = ? LIMIT 1",
                Long.class,
                place.app(),
                place.message())
            .isEmpty();
    if (last) {
      database.update(
          "DELETE FROM broadcasts WHERE app_id = ? AND message_id = ?",
          place.app(),
          place.message());
    }
  }
}
