package io.pushplanet.gateway.statistics;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Applies events to rows: pure bookkeeping, without the database. Every count changes only
/// together with the state of a row, so that an event that comes twice, late or out of order cannot
/// count twice.
///
/// - A delivery ends once. Of several ends the first one stays, except that `delivered` replaces
///   any other.
/// - Delivered again by another attempt is a duplicate; the same attempt told again changes
///   nothing.
/// - A receipt needs the row: a device cannot make up deliveries.
///
/// Confined to one transaction.
final class Ledger {
  private final SequencedMap<DeliveryKey, DeliveryRow> rows = new LinkedHashMap<>();
  private final SortedMap<MessageId, MessageChange> messages = new TreeMap<>();
  private final SortedMap<MinuteKey, Long> minutes = new TreeMap<>();
  private final List<DeliveryEvent.Receipt> withoutRow = new ArrayList<>();

  /// @param present the rows that the table has already
  Ledger(Map<DeliveryKey, DeliveryRow> present) {
    rows.putAll(present);
  }

  SortedMap<DeliveryKey, DeliveryRow> changedRows() {
    SortedMap<DeliveryKey, DeliveryRow> changed = new TreeMap<>();
    rows.forEach((key, row) -> {
      if (row.changed) {
        changed.put(key, row);
      }
    });
    return changed;
  }

  SortedMap<MessageId, MessageChange> messages() {
    return messages;
  }

  SortedMap<MinuteKey, Long> minutes() {
    return minutes;
  }

  /// Receipts whose deliveries have no row (yet).
  List<DeliveryEvent.Receipt> withoutRow() {
    return withoutRow;
  }

  void apply(DeliveryEvent event) {
    switch (event) {
      case DeliveryEvent.Accepted accepted -> {
        MessageChange message = message(accepted.message(), accepted.app());
        message.accepted = accepted;
        if (accepted.expanded()) {
          message.expandedAt = accepted.at();
        }
        accepted.recipients().forEach(device -> row(accepted.message(), device, accepted.app()));
      }
      case DeliveryEvent.Expanded expanded -> {
        if (expanded.last()) {
          message(expanded.message(), expanded.app()).expandedAt = expanded.at();
        }
        expanded.recipients().forEach(device -> row(expanded.message(), device, expanded.app()));
      }
      case DeliveryEvent.Attempted attempted -> {
        DeliveryRow row = row(attempted.message(), attempted.device(), attempted.app());
        if (row.add(attempted.attempt()) && row.state == DeliveryState.QUEUED) {
          Attempt last = row.attempts.getLast();
          row.channel = last.channel();
          row.reason = last.reason();
        }
      }
      case DeliveryEvent.Ended ended -> end(ended);
      case DeliveryEvent.Receipt receipt -> receive(receipt);
      // An uplink is about no row.
      case DeliveryEvent.Uplink _ -> {}
    }
  }

  private void end(DeliveryEvent.Ended ended) {
    DeliveryRow row = row(ended.message(), ended.device(), ended.app());
    if (!row.add(ended.attempt())) {
      return;
    }
    boolean delivered = ended.state() == DeliveryState.DELIVERED;
    MessageChange message = message(ended.message(), ended.app());
    if (row.state == DeliveryState.DELIVERED) {
      if (delivered) {
        row.duplicates++;
        message.duplicates++;
      }
      return;
    }
    if (row.state != DeliveryState.QUEUED) {
      if (!delivered) {
        return;
      }
      message.add(row.state, -1);
      Instant before = row.finishedAt == null ? row.queuedAt : row.finishedAt;
      count(before, row.app, row.channel, row.state.word(), row.reason, -1);
    }
    row.state = ended.state();
    row.channel = ended.attempt().channel();
    row.reason = delivered ? null : ended.attempt().reason();
    row.finishedAt = ended.at();
    message.add(row.state, 1);
    count(ended.at(), row.app, row.channel, row.state.word(), row.reason, 1);
  }

  private void receive(DeliveryEvent.Receipt receipt) {
    DeliveryRow row = rows.get(new DeliveryKey(receipt.message(), receipt.device()));
    if (row == null || !row.app.equals(receipt.app())) {
      withoutRow.add(receipt);
      return;
    }
    switch (receipt.kind()) {
      case DISPLAYED -> {
        if (row.displayedAt == null) {
          row.displayedAt = receipt.at();
          row.changed = true;
        }
      }
      case OPENED -> {
        if (row.openedAt == null) {
          row.openedAt = receipt.at();
          row.changed = true;
          message(receipt.message(), receipt.app()).opened++;
          count(receipt.at(), row.app, row.channel, "opened", null, 1);
        }
      }
    }
  }

  private MessageChange message(MessageId id, AppId app) {
    return messages.computeIfAbsent(id, missing -> new MessageChange(app));
  }

  private DeliveryRow row(MessageId message, DeviceId device, AppId app) {
    return rows.computeIfAbsent(
        new DeliveryKey(message, device),
        missing -> {
          message(message, app).recipients++;
          count(message.time(), app, null, "accepted", null, 1);
          return new DeliveryRow(app, message.time(), List.of(), true);
        });
  }

  private void count(
      Instant at,
      AppId app,
      @Nullable Channel channel,
      String outcome,
      @Nullable String reason,
      long by) {
    String why = reason == null || !reason.chars().allMatch(letter -> letter < 128) ? "" : reason;
    minutes.merge(
        new MinuteKey(at, app, channel == null ? "" : channel.word(), outcome, why), by, Long::sum);
  }
}
