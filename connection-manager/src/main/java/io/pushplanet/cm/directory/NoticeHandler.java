package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing.Tenure;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionNotice.Denial;
import io.pushplanet.common.session.SessionNotice.Handover;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionNotice.Takeover;
import java.util.Optional;

/// Applies what other processes tell this node of its devices. Each notice changes [Arrivals]
/// before it looks into the table, because a connection enters the table before it leaves
/// [Arrivals]: a notice meets every connection in one of both. Thread-safe; never blocks.
final class NoticeHandler {
  private final SessionTable table;
  private final Arrivals arrivals;
  private final PendingTakeovers pendingTakeovers;
  private final Reconciliation reconciliation;
  private final DoubtedSessions doubted;

  NoticeHandler(
      SessionTable table,
      Arrivals arrivals,
      PendingTakeovers pendingTakeovers,
      Reconciliation reconciliation,
      DoubtedSessions doubted) {
    this.table = table;
    this.arrivals = arrivals;
    this.pendingTakeovers = pendingTakeovers;
    this.reconciliation = reconciliation;
    this.doubted = doubted;
  }

  void handle(SessionNotice notice) {
    switch (notice) {
      case Takeover takeover -> takenOver(takeover);
      case SessionRelease release -> arrivals.released(release);
      case Denial denial -> denied(denial);
      case Handover handover -> handedOver(handover);
    }
  }

  /// Another node has claimed the device, and waits for the confirmation that this node has
  /// released it. A session confirms when it ends. A connection that is still arriving confirms
  /// when it ends, too, unless it was claimed later than the other node's.
  private void takenOver(Takeover notice) {
    DeviceKey device = notice.device();
    pendingTakeovers.add(device, notice.owner());
    boolean mayArrive = arrivals.takenOver(device, notice.owner().epoch());
    DeviceSession session = table.find(device);
    if (session == null) {
      if (!mayArrive) {
        pendingTakeovers.confirm(device, Optional.empty());
      }
      return;
    }
    Tenure tenure = reconciliation.enforce(session, notice.owner());
    if (!(tenure instanceof Tenure.Lost)) {
      // The session's epoch is newer than that claim, and the directory does not know it.
      pendingTakeovers.discard(device);
      doubted.add(session);
    }
  }

  /// The device was deleted. A session that came by a newer password stays; the directory has
  /// forgotten it, too, so it is compared at once. A connection that is still arriving is refused,
  /// and the directory answers the device's next attempt.
  private void denied(Denial notice) {
    arrivals.takenOver(notice.device(), notice.epoch());
    DeviceSession session = table.find(notice.device());
    if (session == null) {
      return;
    }
    if (session.passwordEnds() <= notice.ends()) {
      session.deny();
    } else {
      doubted.add(session);
    }
  }

  /// The device has another user. A connection that is still arriving is refused, and the device
  /// connects again. A session that was claimed after the change already began anew.
  private void handedOver(Handover notice) {
    arrivals.takenOver(notice.device(), notice.epoch());
    DeviceSession session = table.find(notice.device());
    if (session != null && session.epoch() <= notice.epoch()) {
      session.handOver();
    }
  }
}
