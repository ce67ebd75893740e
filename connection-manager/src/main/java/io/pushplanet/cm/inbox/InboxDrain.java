package io.pushplanet.cm.inbox;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.common.message.MessageId;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Empties one device's inbox into its session. It reads one page after the other, by message id
/// and never the same row twice, until the inbox is empty.
///
/// The session takes a row when there is room in its window. Fresh messages wait until no older row
/// is left, or until the inbox cannot be read or has not moved for [#MAX_STILL_SWEEPS]. Rows that
/// the session no longer takes are given back, and read again in order when it does. A failed read
/// is repeated after [#RETRY_NANOS]. So is the end of a row that could not be told, and until it
/// succeeds no further page is read.
///
/// Only one broadcast at a time is with the session, because the device's position must not pass a
/// broadcast whose end has not been told. If a broadcast ends undelivered, all rows behind it are
/// read again. If a broadcast's end is told while one with a lower number is still to come, the
/// position stays before the lower one, and the told one is not sent again. Confined to the
/// session's event loop.
public final class InboxDrain {
  private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

  /// There is one sweep per second, but none while the whole loop stands still.
  private static final int MAX_STILL_SWEEPS = 5;

  private final ParkedMessages inbox;
  private final DeviceSession session;

  // The page: its rows that the session has not taken, and how many of its rows have not ended.
  private final ArrayDeque<InboxRow> rows = new ArrayDeque<>(0);
  private int unfinishedRows;
  private int stillSweeps;

  // The read: whether one is under way, another one is wanted, a failed one will be repeated.
  private boolean reading;
  private boolean readAgain;
  private boolean retryScheduled;
  private long askedNanos;
  private long retryAtNanos;

  // Ends that could not be told.
  private final ArrayDeque<Ending> endsToRetry = new ArrayDeque<>(0);
  private long tellAtNanos;

  private boolean broadcastUnderWay;

  /// Broadcasts whose end was told and that are not yet behind the device's position, with the
  /// numbers of their lists.
  private final Map<MessageId, Long> toldBroadcasts = new HashMap<>(0);

  /// The end of a row that could not be told.
  private record Ending(InboxRow row, Consumer<ParkedMessages.Then> end) {}

  public InboxDrain(ParkedMessages inbox, DeviceSession session) {
    this.inbox = inbox;
    this.session = session;
  }

  /// Whether this drain has no work left. A later request makes a new one.
  public boolean isIdle() {
    return rows.isEmpty()
        && !reading
        && !readAgain
        && !retryScheduled
        && unfinishedRows == 0
        && toldBroadcasts.isEmpty();
  }

  /// Whether a message older than this fresh one may still have to be sent, and soon will be.
  public boolean isAheadOf(MessageId fresh) {
    InboxRow next = rows.peek();
    boolean mayBeOlder = next == null ? reading || readAgain : !next.isNewerThan(fresh);
    return mayBeOlder && stillSweeps < MAX_STILL_SWEEPS;
  }

  /// The next message for the session to send; null when none is ready, or when the next one is
  /// newer than `fresh`, the first waiting message.
  public @Nullable OutboundMessage next(@Nullable MessageId fresh) {
    while (!rows.isEmpty()) {
      InboxRow row = rows.element();
      if ((row.isBroadcast() && broadcastUnderWay) || (fresh != null && row.isNewerThan(fresh))) {
        return null;
      }
      rows.remove();
      broadcastUnderWay |= row.isBroadcast();
      if (row.fate() == InboxRow.Fate.DUE) {
        return new OutboundMessage(
            new SharedPublish(row.message(), row.payload(), row.expiresAtMillis()),
            OutboundMessage.NO_DEADLINE,
            new Parked(row));
      }
      tell(row, then -> inbox.over(row, then));
    }
    return null;
  }

  /// The inbox may have messages: reads now, or once the current rows are settled.
  public void wanted() {
    readAgain = true;
    askWhenIdle();
  }

  public void swept(long nowNanos) {
    stillSweeps = Math.min(stillSweeps + 1, MAX_STILL_SWEEPS);
    if (!session.takesParked()) {
      giveBack();
    }
    if (retryScheduled && nowNanos - retryAtNanos > 0) {
      retryScheduled = false;
      wanted();
    }
    if (!endsToRetry.isEmpty() && nowNanos - tellAtNanos > 0) {
      var endings = List.copyOf(endsToRetry);
      endsToRetry.clear();
      endings.forEach(ending -> tell(ending.row(), ending.end()));
    }
    session.pump();
  }

  private void giveBack() {
    unfinishedRows -= rows.size();
    readAgain |= !rows.isEmpty();
    rows.clear();
  }

  private void askWhenIdle() {
    if (!readAgain || reading || unfinishedRows > 0 || !session.takesParked()) {
      return;
    }
    readAgain = false;
    reading = true;
    askedNanos = session.loop().nowNanos();
    inbox.read(session.key(), session.loop(), this::arrived);
  }

  private void arrived(InboxPage page) {
    reading = false;
    if (session.isGone()) {
      return;
    }
    switch (page) {
      case InboxPage.Rows(List<InboxRow> read, boolean more) -> {
        stillSweeps = 0;
        readAgain |= more;
        unfinishedRows += read.size();
        for (InboxRow row : read) {
          boolean isTold = toldBroadcasts.containsKey(row.message());
          rows.add(isTold ? row.with(InboxRow.Fate.REPEAT) : row);
        }
        session.pump();
        askWhenIdle();
      }
      case InboxPage.Unreadable() -> {
        retryScheduled = true;
        retryAtNanos = session.loop().nowNanos() + RETRY_NANOS;
        stillSweeps = MAX_STILL_SWEEPS;
        session.pump();
      }
    }
  }

  /// A row that the session has; it is told how the row's message ends.
  private final class Parked implements OutboundMessage.Origin {
    private final InboxRow row;

    Parked(InboxRow row) {
      this.row = row;
    }

    /// A read begins only after all rows of the last one are settled, so this is the time since
    /// that read was requested.
    @Override
    public void written() {
      inbox.written(session.loop().nowNanos() - askedNanos);
    }

    @Override
    public void settled(OutboundMessage message, Settlement settlement) {
      stillSweeps = 0;
      switch (settlement) {
        case Settlement.Delivered(Instant lateAt) ->
            tell(row, then -> inbox.delivered(row, lateAt, then));
        case Settlement.Refused refused when refused.why().isForGood() ->
            tell(row, then -> inbox.failed(row, refused, then));
        case Settlement.Refused _ -> done(row, false);
        // The row stays for the next connection, or until a sweeper ends it as expired.
        case Settlement.NotHere(),
            Settlement.NotSubscribed(),
            Settlement.TimedOut(),
            Settlement.Expired() ->
            done(row, false);
      }
    }
  }

  private void tell(InboxRow row, Consumer<ParkedMessages.Then> end) {
    end.accept(told -> session.loop().execute(() -> ended(row, end, told)));
  }

  private void ended(InboxRow row, Consumer<ParkedMessages.Then> end, boolean told) {
    if (told) {
      done(row, true);
      return;
    }
    endsToRetry.add(new Ending(row, end));
    tellAtNanos = session.loop().nowNanos() + RETRY_NANOS;
  }

  private void done(InboxRow row, boolean told) {
    unfinishedRows--;
    stillSweeps = 0;
    if (row.isBroadcast()) {
      broadcastUnderWay = false;
      if (told) {
        toldBroadcasts.put(row.message(), row.seq());
        toldBroadcasts.values().removeIf(seq -> seq <= row.position());
      } else {
        giveBack();
      }
    }
    if (told) {
      // A told end comes in a task of its own. Any other end comes from the session, which fills
      // its window itself.
      session.pump();
    }
    askWhenIdle();
  }
}
