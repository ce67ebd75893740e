package io.pushplanet.gateway.inbox;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.DevicePayload;
import io.pushplanet.gateway.database.Transactions;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/// Parks a message for many devices at once: its payload once, and one list of the devices
/// ([DeviceList]) under a number. An app's numbers rise in the order of commits, because the
/// transaction that draws one locks the app's sequence until it commits. So a device whose position
/// has reached a number has missed none below it. Thread-safe.
final class BroadcastLog {
  /// Fewer devices have rows of their own.
  static final int FEWEST = 32;

  private static final String PAYLOAD =
      """
      INSERT INTO broadcasts (app_id, message_id, slot, payload) VALUES (?, ?, ?, ?)
      ON DUPLICATE KEY UPDATE message_id = message_id
      """;
  private static final String DRAW =
      """
      INSERT INTO broadcast_sequences (app_id, last) VALUES (?, 1) ON DUPLICATE KEY UPDATE last = last + 1
      """;
  private static final String LIST =
      """
      INSERT INTO broadcast_devices (app_id, seq, message_id, parked_at, expires_at, first_device, last_device, devices)
      SELECT app_id, last, ?, ?, ?, ?, ?, ? FROM broadcast_sequences WHERE app_id = ?
      """;

  /// A cancellation first marks the message and then its broadcast; this looks at the message after
  /// the broadcast is written. One of the two finds the broadcast.
  private static final String MARK_CANCELLED =
      """
      UPDATE broadcasts b JOIN messages m ON m.day = ? AND m.id = b.message_id SET b.cancelled_at = m.cancelled_at
      WHERE b.app_id = ? AND b.message_id = ? AND m.cancelled_at IS NOT NULL
      """;

  private final JdbcTemplate database;
  private final TransactionTemplate transactions;
  private final Clock clock;

  BroadcastLog(DataSource database, Clock clock) {
    this.database = new JdbcTemplate(database);
    this.transactions = Transactions.readCommitted(database);
    this.clock = clock;
  }

  /// Parks a message for these devices; it is durable when this returns.
  void append(Push push, String slot, Collection<DeviceId> devices) {
    DeviceList list = DeviceList.of(devices);
    Instant now = clock.instant();
    transactions.executeWithoutResult(status -> {
      database.update(PAYLOAD, push.app().value(), push.id().value(), slot, DevicePayload.of(push));
      database.update(DRAW, push.app().value());
      database.update(
          LIST,
          push.id().value(),
          Timestamp.from(now),
          Timestamp.from(push.expiresAt()),
          list.first().value(),
          list.last().value(),
          list.text(),
          push.app().value());
    });
    database.update(MARK_CANCELLED, push.id().day(), push.app().value(), push.id().value());
  }
}
