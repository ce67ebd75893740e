package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.EventLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.session.Fencing.Tenure;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Compares this node's sessions with the directory, in bulk: announces what it does not know, lets go of what another node
/// has. All at once where there is a reason to; without one a few at a time, so that each has its turn once in
/// [DirectorySettings#verifyEvery] and idle devices cost next to nothing. Thread-safe but for [#next]; calls block.
final class Comparison {
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  static final Duration PAUSE_WHILE_AWAY = Duration.ofSeconds(1);
  private static final Duration WAITS_IN_SOCKETS = Duration.ofSeconds(10);
  private static final Runnable UNHEARD = () -> {};
  private static final DeviceKey NOBODY =
      new DeviceKey(new AppId("nobody"), new DeviceId("nobody"));

  private final Directory directory;
  private final DirectoryHealth health;
  private final NodeId node;
  private final SessionTable table;
  private final Arrivals arrivals;
  private final Patrol patrol;
  private final DirectoryMetrics metrics;
  private final InstantSource clock;
  private final Duration every;
  private final long passesPerPatrol;
  // Of #next alone, which one thread calls.
  private Iterator<DeviceSession> ahead = Collections.emptyIterator();
  private long pass;
  // Who connected while all were compared may have come too late for that, and was told nothing of
  // the directory.
  private final AtomicBoolean onceMore = new AtomicBoolean();
  private final AtomicBoolean missedDenials = new AtomicBoolean();
  // Were between claim and table when notices may have been missed: are asked about once they are
  // there.
  private final Set<DeviceKey> arrivedUnasked = ConcurrentHashMap.newKeySet();
  private volatile long announcedAtMillis;

  Comparison(
      Directory directory,
      DirectoryHealth health,
      NodeId node,
      SessionTable table,
      Arrivals arrivals,
      Patrol patrol,
      DirectoryMetrics metrics,
      InstantSource clock,
      DirectorySettings settings) {
    this.directory = directory;
    this.health = health;
    this.node = node;
    this.table = table;
    this.arrivals = arrivals;
    this.patrol = patrol;
    this.metrics = metrics;
    this.clock = clock;
    this.every = settings.verifyEvery();
    this.passesPerPatrol = Math.max(1, settings.patrolEvery().dividedBy(every));
  }

  /// How long to wait before [#next]: such that a bulk of sessions is due, within reason.
  ///
  /// @param hasToTell the directory has not heard something yet: the shortest
  Duration pause(boolean hasToTell) {
    if (!health.isReachable()) {
      return PAUSE_WHILE_AWAY;
    }
    if (hasToTell) {
      return shorter(SHORTEST_PAUSE, every);
    }
    var bulkEvery = every.multipliedBy(Patrol.BULK).dividedBy(Math.max(1, table.size()));
    var pause = shorter(LONGEST_PAUSE, longer(SHORTEST_PAUSE, bulkEvery));
    return shorter(pause, every);
  }

  /// The next few; everything when the directory was away, and once more when it is back. Now and then also looks into their inboxes: a drain that got lost on
  /// its way here would otherwise wait for the device's next connect.
  ///
  /// @param pause since the last few
  void next(Duration pause) {
    if (!health.isReachable() || onceMore.getAndSet(false)) {
      all();
      return;
    }
    long share = table.size() * pause.toNanos();
    long due = Math.ceilDiv(share, every.toNanos());
    try {
      compareWhoArrived();
      while (due > 0) {
        var some = ahead(Math.min(due, Patrol.BULK));
        if (some.isEmpty()) {
          return;
        }
        try {
          compare(some, UNHEARD);
        } finally {
          // Inboxes are not in the directory; their next turn may be half an hour away.
          patrol.lookInto(some.stream().filter(this::isPatrolled).toList());
        }
        due -= some.size();
      }
    } catch (DirectoryUnavailable away) {
      health.failed(away);
    }
  }

  private List<DeviceSession> ahead(long most) {
    if (!ahead.hasNext()) {
      ahead = table.all().iterator();
      pass++;
    }
    var some = new ArrayList<DeviceSession>();
    while (some.size() < most && ahead.hasNext()) {
      some.add(ahead.next());
    }
    return some;
  }

  private boolean isPatrolled(DeviceSession session) {
    return Math.floorMod(session.key().hashCode() - pass, passesPerPatrol) == 0;
  }

  /// Whether the directory is there, one small question says: to compare a million sessions takes seconds, in which one call or another may fail, and
  /// connects and disconnects need not do without it meanwhile.
  ///
  /// @return whether all could be compared
  boolean all() {
    try {
      directory.owners(List.of(NOBODY));
      if (!health.isReachable()) {
        health.answered(table.size());
        onceMore.set(true);
      }
      compareEach(table.all().iterator(), UNHEARD);
      if (missedDenials.getAndSet(false)) {
        endDenied();
      }
      compareWhoArrived();
      return true;
    } catch (DirectoryUnavailable away) {
      health.failed(away);
      return false;
    }
  }

  /// Notices may have been missed. That of a denial may have been the only one: where it was told again, the owner's entry says nothing of it.
  void allAndDenied() {
    // First: who is not among them by then is in the table.
    arrivedUnasked.addAll(arrivals.devices());
    missedDenials.set(true);
    all();
  }

  private void endDenied() {
    try {
      var sessions = table.all().iterator();
      while (sessions.hasNext()) {
        endDenied(Patrol.bulkOf(sessions));
      }
    } catch (DirectoryUnavailable away) {
      missedDenials.set(true);
      throw away;
    }
  }

  /// A device that was claimed before a notice which was missed, and came into the table after all others were compared.
  private void compareWhoArrived() {
    if (arrivedUnasked.isEmpty()) {
      return;
    }
    // In this order, as in Registrar#absent.
    var over = arrivedUnasked.stream().filter(device -> !arrivals.isArriving(device)).toList();
    // First: who is to be asked about anew meanwhile stays.
    over.forEach(arrivedUnasked::remove);
    try {
      var sessions = over.stream().map(table::find).filter(Objects::nonNull).iterator();
      while (sessions.hasNext()) {
        var some = Patrol.bulkOf(sessions);
        compare(some, UNHEARD);
        endDenied(some);
      }
    } catch (DirectoryUnavailable away) {
      arrivedUnasked.addAll(over);
      throw away;
    }
  }

  private void endDenied(List<DeviceSession> some) {
    Map<DeviceKey, Long> passwordEnds = HashMap.newHashMap(some.size());
    some.forEach(session -> passwordEnds.put(session.key(), session.passwordEnds()));
    var denied = directory.denied(passwordEnds);
    some.stream().filter(session -> denied.contains(session.key())).forEach(DeviceSession::deny);
  }

  /// Those of one loop: what a loop that stood still may go on with. If it is stopped once more meanwhile, what was compared before says
  /// nothing any more, and all are compared again.
  ///
  /// @param nanoTime the loop's clock
  /// @return the reading of it when the last answer came
  long allOf(Loop loop, LongSupplier nanoTime) {
    var pulse = new Pulse(nanoTime);
    do {
      pulse.begin();
      compareEach(of(loop), pulse::beat);
    } while (pulse.hasMissed());
    return pulse.lastNanos;
  }

  /// Beats with each answer of the directory. A call has a deadline below [EventLoop#STANDSTILL], so a longer pause is not its own.
  private static final class Pulse {
    private final LongSupplier nanoTime;
    private long lastNanos;
    private boolean missed;

    Pulse(LongSupplier nanoTime) {
      this.nanoTime = nanoTime;
    }

    void begin() {
      missed = false;
      lastNanos = nanoTime.getAsLong();
    }

    void beat() {
      long now = nanoTime.getAsLong();
      missed |= now - lastNanos > EventLoop.STANDSTILL.toNanos();
      lastNanos = now;
    }

    boolean hasMissed() {
      return missed;
    }
  }

  void lookIntoAll() {
    patrol.lookIntoEach(table.all().iterator());
  }

  void lookIntoAllOf(Loop loop) {
    patrol.lookIntoEach(of(loop));
  }

  private Iterator<DeviceSession> of(Loop loop) {
    return table.all().stream().filter(session -> session.loop().equals(loop)).iterator();
  }

  private void compareEach(Iterator<DeviceSession> sessions, Runnable answered) {
    while (sessions.hasNext()) {
      compare(Patrol.bulkOf(sessions), answered);
    }
  }

  void some(List<DeviceSession> sessions) {
    try {
      compare(sessions, UNHEARD);
    } catch (DirectoryUnavailable away) {
      health.failed(away);
    }
  }

  private void compare(List<DeviceSession> sessions, Runnable answered) {
    var devices = sessions.stream().map(DeviceSession::key).toList();
    var owners = directory.owners(devices);
    answered.run();
    Map<DeviceKey, DeviceSession> unknown = new HashMap<>();
    for (int index = 0; index < devices.size(); index++) {
      var session = sessions.get(index);
      if (judge(session, owners.get(devices.get(index))) instanceof Tenure.Unknown) {
        unknown.put(devices.get(index), session);
      }
    }
    if (!unknown.isEmpty()) {
      announce(unknown, answered);
    }
  }

  private void announce(Map<DeviceKey, DeviceSession> unknown, Runnable answered) {
    Map<DeviceKey, Announced> announced = new HashMap<>();
    unknown.forEach((device, session) -> {
      // Before it is announced, for it may end meanwhile.
      session.presume();
      announced.put(device, new Announced(session.epoch(), session.passwordEnds()));
    });
    var answer = directory.announce(announced);
    answered.run();
    answer.denied().forEach(device -> Objects.requireNonNull(unknown.get(device)).deny());
    answer
        .owners()
        .forEach((device, owner) -> {
          var session = unknown.get(device);
          if (session == null || table.find(device) != session) {
            return;
          }
          if (judge(session, owner) instanceof Tenure.Kept) {
            metrics.reannounced.increment();
            lookIntoInbox(session);
          }
        });
    announcedAtMillis = clock.millis();
  }

  /// Whether what a device says now was said after its session was announced, and did not wait in a socket meanwhile.
  boolean hearsAfterAnnouncing() {
    return clock.millis() - announcedAtMillis > WAITS_IN_SOCKETS.toMillis();
  }

  private static void lookIntoInbox(DeviceSession session) {
    session.loop().execute(session::askForParked);
  }

  Tenure judge(DeviceSession session, @Nullable SessionOwner owner) {
    var tenure = Fencing.judge(node, session.epoch(), owner);
    switch (tenure) {
      case Tenure.Kept(), Tenure.Unknown() -> {}
      case Tenure.Renewed(var epoch) -> {
        // That of a connection which is arriving is its own: with this session its entry would go.
        if (!arrivals.isArriving(session.key())) {
          session.adoptEpoch(epoch);
        }
      }
      case Tenure.Lost(var winner) -> lost(session, winner);
    }
    return tenure;
  }

  private void lost(DeviceSession session, SessionOwner winner) {
    if (!session.isLost()) {
      // An epoch is the time of its claim, unless two claims shared a millisecond.
      metrics.takeover.record(Math.max(0, clock.millis() - winner.epoch()), TimeUnit.MILLISECONDS);
    }
    session.lose();
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
