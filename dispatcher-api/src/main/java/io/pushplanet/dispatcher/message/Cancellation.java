package io.pushplanet.dispatcher.message;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.lane.ConfirmedPublisher;
import io.pushplanet.dispatcher.lane.QueueItem;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

/// Stops a message as far as that is still possible. It marks the message, and ends deliveries that
/// wait in `later` and in inboxes. A broadcast that waits for many devices is marked too, and the
/// worker ends it within seconds. A message that is on a lane at that moment is stopped by the
/// worker, or arrives.
///
/// The broker is told of the end of a delivery before its row is deleted: after a crash in between
/// the row is sent or cancelled again, but no delivery stays without an end. Thread-safe.
@Component
class Cancellation {
  private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final int AT_ONCE = 500;

  /// Of rows of `later`, each of which may have as many recipients as a lane message.
  private static final int LATER_AT_ONCE = 50;

  private final MessageMapper mapper;
  private final AppBulkheads reads;
  private final AcceptedMessages accepted;
  private final ConfirmedPublisher publisher;
  private final TransactionTemplate transactions;
  private final Clock clock;

  Cancellation(
      MessageMapper mapper,
      AppBulkheads reads,
      AcceptedMessages accepted,
      ConfirmedPublisher publisher,
      PlatformTransactionManager transactions,
      Clock clock) {
    this.mapper = mapper;
    this.reads = reads;
    this.accepted = accepted;
    this.publisher = publisher;
    this.transactions = new TransactionTemplate(transactions);
    // Without gap locks, so that a worker that parks another message does not wait.
    this.transactions.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
    this.clock = clock;
  }

  /// A message that is done stays as it is.
  ///
  /// @throws ProblemException 404 when no such message is known (yet), 503 when others hold some of
  ///     its places in inboxes for long
  /// @throws io.pushplanet.common.redis.RedisUnavailable when only Redis knows whether there
  ///     is such a message
  void cancel(AppId app, MessageId id) {
    MessageMapper.MessageRow row = row(app, id);
    if (row != null && row.done()) {
      return;
    }
    Instant now = clock.instant();
    reads.call(app, 1, () -> mapper.cancel(app.value(), id.day(), id.value(), id.time(), now));
    // Cancelled after the message: a worker that parks it at this moment reads the message
    // afterwards.
    reads.call(app, 1, () -> mapper.cancelBroadcast(app.value(), id.value(), now));
    takeFromLater(app, id);
    takeFromInboxes(app, id);
  }

  /// The statistics role writes the row some time after the message was accepted, and it says
  /// whether the message is done. So a cancellation that comes earlier waits for it, but not for
  /// long: that role may be away.
  private MessageMapper.@Nullable MessageRow row(AppId app, MessageId id) {
    long endNanos = System.nanoTime() + LONGEST_WAIT.toNanos();
    while (true) {
      MessageMapper.MessageRow row =
          reads.call(app, 1, () -> mapper.find(app.value(), id.day(), id.value()));
      if (row == null && accepted.mustFind(app, id).isEmpty()) {
        throw Messages.unknown(id, clock.instant());
      }
      if (row != null || System.nanoTime() - endNanos > 0) {
        return row;
      }
      LockSupport.parkNanos(PAUSE.toNanos());
    }
  }

  private void takeFromLater(AppId app, MessageId id) {
    boolean more = true;
    while (more) {
      more = inTransaction(app, () -> someFromLater(app, id));
    }
  }

  private boolean someFromLater(AppId app, MessageId id) {
    List<MessageMapper.LaterRow> rows = mapper.lockLater(app.value(), id.value(), LATER_AT_ONCE);
    if (rows.isEmpty()) {
      return false;
    }
    tell(
        app,
        id,
        rows.stream()
            .flatMap(row ->
                WireForm.readBatch(row.pushes().getBytes(StandardCharsets.UTF_8), Push.class)
                    .stream())
            .flatMap(push -> push.recipients().stream())
            .map(Recipient::device)
            .toList());
    mapper.deleteLater(rows.stream().map(MessageMapper.LaterRow::id).sorted().toList());
    return rows.size() == LATER_AT_ONCE;
  }

  /// Looks again after rows that another transaction held: a worker that parks another message of
  /// the same collapse key may leave this one in its place.
  private void takeFromInboxes(AppId app, MessageId id) {
    long endNanos = System.nanoTime() + LONGEST_WAIT.toNanos();
    takeFreeFromInboxes(app, id);
    while (reads.call(app, 1, () -> mapper.isInInboxes(app.value(), id.value()))) {
      if (System.nanoTime() - endNanos > 0) {
        throw ProblemException.retryable(
            ProblemCode.DATABASE_UNAVAILABLE,
            "The message is cancelled, but for some devices it is being changed. Cancel it again.",
            Duration.ofSeconds(1),
            null);
      }
      LockSupport.parkNanos(PAUSE.toNanos());
      takeFreeFromInboxes(app, id);
    }
  }

  private void takeFreeFromInboxes(AppId app, MessageId id) {
    boolean more = true;
    while (more) {
      more = inTransaction(app, () -> someFromInboxes(app, id));
    }
  }

  private boolean inTransaction(AppId app, BooleanSupplier work) {
    return Boolean.TRUE.equals(
        reads.call(app, 1, () -> transactions.execute(_ -> work.getAsBoolean())));
  }

  private boolean someFromInboxes(AppId app, MessageId id) {
    List<MessageMapper.InboxRow> rows = mapper.lockInbox(app.value(), id.value(), AT_ONCE);
    if (rows.isEmpty()) {
      return false;
    }
    tell(app, id, rows.stream().map(row -> new DeviceId(row.deviceId())).toList());
    mapper.deleteInbox(app.value(), id.value(), rows);
    return rows.size() == AT_ONCE;
  }

  private void tell(AppId app, MessageId id, List<DeviceId> devices) {
    Instant now = clock.instant();
    Attempt attempt = Attempt.cancelled(now);
    publisher.publish(
        devices.stream()
            .map(device ->
                QueueItem.of(
                    Topology.EVENTS,
                    new DeliveryEvent.Ended(
                        app, now, id, device, DeliveryState.CANCELLED, attempt)))
            .toList());
  }
}
