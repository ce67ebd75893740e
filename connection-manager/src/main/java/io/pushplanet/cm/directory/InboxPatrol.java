package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Looks for messages in the inboxes of connected devices, in bulk, and has each such inbox read: a
/// gateway's request to drain it may have got lost on its way here. While MySQL is away no inbox is
/// read on suspicion; once MySQL answers again, all inboxes are checked, one statement at a time.
/// Thread-safe; every call except [#catchUp] blocks.
final class InboxPatrol {
  private static final Logger LOG = LoggerFactory.getLogger(InboxPatrol.class);

  /// Devices in one statement or in one request to the directory.
  static final int BULK = 500;

  private final SessionTable table;
  private final Registrar.Parked parked;
  private final Executor workers;
  // An inbox was not checked, so all inboxes will be.
  private final AtomicBoolean missed = new AtomicBoolean();
  private final AtomicBoolean catchingUp = new AtomicBoolean();

  InboxPatrol(SessionTable table, Registrar.Parked parked, Executor workers) {
    this.table = table;
    this.parked = parked;
    this.workers = workers;
  }

  void lookInto(List<DeviceSession> sessions) {
    if (sessions.isEmpty() || missed.get()) {
      return;
    }
    boolean known = false;
    try {
      Optional<Collection<DeviceKey>> found =
          parked.among(sessions.stream().map(DeviceSession::key).toList());
      found.ifPresent(devices -> devices.forEach(this::lookInto));
      known = found.isPresent();
    } finally {
      if (!known) {
        missed.set(true);
      }
    }
  }

  private void lookInto(DeviceKey device) {
    DeviceSession session = table.find(device);
    if (session != null && !session.isLost()) {
      session.loop().execute(session::askForParked);
    }
  }

  void lookIntoEach(Iterator<DeviceSession> sessions) {
    while (sessions.hasNext() && !missed.get()) {
      lookInto(bulkOf(sessions));
    }
  }

  /// The next [#BULK] sessions, or fewer at the end.
  static List<DeviceSession> bulkOf(Iterator<DeviceSession> sessions) {
    var some = new ArrayList<DeviceSession>(BULK);
    while (some.size() < BULK && sessions.hasNext()) {
      some.add(sessions.next());
    }
    return some;
  }

  /// Checks all inboxes if an earlier check failed, on a worker. The first statement shows whether
  /// MySQL answers again.
  void catchUp() {
    if (missed.get() && catchingUp.compareAndSet(false, true)) {
      workers.execute(this::lookIntoAllAgain);
    }
  }

  private void lookIntoAllAgain() {
    try {
      // First: a device that is skipped from here on needs another round.
      missed.set(false);
      lookIntoEach(table.all().iterator());
    } catch (RuntimeException | Error bug) {
      LOG.error("event=patrol_error", bug);
    } finally {
      catchingUp.set(false);
    }
  }
}
