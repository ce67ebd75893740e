package io.pushplanet.cm.directory;

import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Looks into the inboxes of devices that are connected, in bulk, and has those read in which something lies: the request to
/// drain may have got lost on its way here. While nobody can say, no inbox is read on suspicion: all are looked into once that is over, one statement at a
/// time. Thread-safe; calls but [#catchUp] block.
final class Patrol {
  private static final Logger LOG = LoggerFactory.getLogger(Patrol.class);

  /// So many devices are asked about in one statement, here or in the directory.
  static final int BULK = 500;

  private final SessionTable table;
  private final Registrar.Parked parked;
  private final Executor workers;
  // Somebody was not looked after: all will be.
  private final AtomicBoolean missed = new AtomicBoolean();
  private final AtomicBoolean catchingUp = new AtomicBoolean();

  Patrol(SessionTable table, Registrar.Parked parked, Executor workers) {
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
      var found = parked.among(sessions.stream().map(DeviceSession::key).toList());
      found.ifPresent(devices -> devices.forEach(this::lookInto));
      known = found.isPresent();
    } finally {
      if (!known) {
        missed.set(true);
      }
    }
  }

  private void lookInto(DeviceKey device) {
    var session = table.find(device);
    if (session != null && !session.isLost()) {
      session.loop().execute(session::askForParked);
    }
  }

  void lookIntoEach(Iterator<DeviceSession> sessions) {
    while (sessions.hasNext() && !missed.get()) {
      lookInto(bulkOf(sessions));
    }
  }

  /// The next few.
  static List<DeviceSession> bulkOf(Iterator<DeviceSession> sessions) {
    var some = new ArrayList<DeviceSession>(BULK);
    while (some.size() < BULK && sessions.hasNext()) {
      some.add(sessions.next());
    }
    return some;
  }

  /// From time to time: looks into all inboxes if that is owed, on a worker. The first statement tells whether it can be done by now.
  void catchUp() {
    if (missed.get() && catchingUp.compareAndSet(false, true)) {
      workers.execute(this::lookIntoAllAgain);
    }
  }

  private void lookIntoAllAgain() {
    try {
      // First: who is passed over from here on is owed another round.
      missed.set(false);
      lookIntoEach(table.all().iterator());
    } catch (RuntimeException | Error bug) {
      LOG.error("event=patrol_error", bug);
    } finally {
      catchingUp.set(false);
    }
  }
}
