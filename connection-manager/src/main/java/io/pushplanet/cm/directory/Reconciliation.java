package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.Announced;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.EventLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.session.Fencing.Tenure;
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
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Compares this node's sessions with the directory, in bulk: announces the sessions that the
/// directory does not know, and ends those whose device another node owns. Compares all sessions at
/// once when there is a reason to; otherwise a few at a time, so that each session's turn comes
/// once in [DirectorySettings#verifyEvery] and idle devices cost next to nothing. That turn also
/// has each session remembered again once a day. Thread-safe except for [#next]; calls block.
final class Reconciliation {
  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  static final Duration PAUSE_WHILE_AWAY = Duration.ofSeconds(1);
  private static final Duration WAITS_IN_SOCKETS = Duration.ofSeconds(10);
  private static final Duration REMEMBER_EVERY = Duration.ofDays(1);
  private static final Runnable IGNORE = () -> {};
  // Tells whether the directory answers; no device has this key.
  private static final DeviceKey PROBE = new DeviceKey(new AppId("nobody"), new DeviceId("nobody"));

  private final Directory directory;
  private final DirectoryHealth health;
  private final NodeId node;
  private final SessionTable table;
  private final Arrivals arrivals;
  private final InboxPatrol patrol;
  private final DirectoryMetrics metrics;
  private final InstantSource clock;
  private final Duration every;
  private final long passesPerPatrol;
  private final long passesPerRemembering;
  private final Consumer<DeviceSession> remember;
  // Confined to the thread that calls #next, as is `pass`.
  private Iterator<DeviceSession> ahead = Collections.emptyIterator();
  private long pass;
  // A device that connected while all sessions were compared may have been missed, and its claim
  // got no answer from the directory.
  private final AtomicBoolean onceMore = new AtomicBoolean();
  private final AtomicBoolean missedDenials = new AtomicBoolean();
  // Devices that were between claim and table when notices may have been missed. They are compared
  // once they are in the table.
  private final Set<DeviceKey> arrivingUncompared = ConcurrentHashMap.newKeySet();
  private volatile long announcedAtMillis;

  /// @param remember stores the session in the directory again; called on its loop
  Reconciliation(
      Directory directory,
      DirectoryHealth health,
      NodeId node,
      SessionTable table,
      Arrivals arrivals,
      InboxPatrol patrol,
      DirectoryMetrics metrics,
      InstantSource clock,
      DirectorySettings settings,
      Consumer<DeviceSession> remember) {
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
    this.passesPerRemembering = Math.max(1, REMEMBER_EVERY.dividedBy(every));
    this.remember = remember;
  }

  /// How long to wait before [#next], so that one bulk of sessions is due, within limits.
  ///
  /// @param hasToSend releases are pending, so the pause is the shortest
  Duration pause(boolean hasToSend) {
    if (!health.isReachable()) {
      return PAUSE_WHILE_AWAY;
    }
    if (hasToSend) {
      return shorter(SHORTEST_PAUSE, every);
    }
    Duration bulkEvery = every.multipliedBy(InboxPatrol.BULK).dividedBy(Math.max(1, table.size()));
    Duration pause = shorter(LONGEST_PAUSE, longer(SHORTEST_PAUSE, bulkEvery));
    return shorter(pause, every);
  }

  /// Compares the next few sessions; all of them while the directory is away, and once more when it
  /// is back. Now and then also checks their inboxes: a drain request that got lost on its way here
  /// would otherwise have no effect until the device connects again.
  ///
  /// @param pause since the last call
  void next(Duration pause) {
    if (!health.isReachable() || onceMore.getAndSet(false)) {
      all();
      return;
    }
    long share = table.size() * pause.toNanos();
    long due = Math.ceilDiv(share, every.toNanos());
    try {
      compareArrived();
      while (due > 0) {
        List<DeviceSession> some = ahead(Math.min(due, InboxPatrol.BULK));
        if (some.isEmpty()) {
          return;
        }
        try {
          compare(some, IGNORE);
          rememberAgain(some);
        } finally {
          // Also when the directory is away: it does not hold the inboxes, and the next turn of
          // these sessions may come half an hour later.
          patrol.lookInto(some.stream().filter(each -> isDue(each, passesPerPatrol)).toList());
        }
        due -= some.size();
      }
    } catch (RedisUnavailable away) {
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

  /// The directory keeps a session for
  /// [io.pushplanet.cm.session.SessionTerms#LONGEST_EXPIRY] from when it was remembered last, and a
  /// connection may last longer.
  private void rememberAgain(List<DeviceSession> some) {
    for (DeviceSession session : some) {
      if (isDue(session, passesPerRemembering)) {
        session.loop().execute(() -> remember.accept(session));
      }
    }
  }

  /// Whether the session's turn comes in this pass, as it does once in so many.
  private boolean isDue(DeviceSession session, long passes) {
    return Math.floorMod(session.key().hashCode() - pass, passes) == 0;
  }

  /// Compares all sessions. A small probe shows first whether the directory answers: comparing a
  /// million sessions takes seconds in which a call may fail, and connects and disconnects can use
  /// the directory meanwhile.
  ///
  /// @return whether all could be compared
  boolean all() {
    try {
      directory.owners(List.of(PROBE));
      if (!health.isReachable()) {
        health.answered(table.size());
        onceMore.set(true);
      }
      compareEach(table.all().iterator(), IGNORE);
      if (missedDenials.getAndSet(false)) {
        endDenied();
      }
      compareArrived();
      return true;
    } catch (RedisUnavailable away) {
      health.failed(away);
      return false;
    }
  }

  /// Notices may have been missed. For a missed denial the comparison of owners is not enough: a
  /// denial that is repeated leaves the owner's entry as it is.
  void allAndDenied() {
    // First: a device that is not arriving any more by then is in the table.
    arrivingUncompared.addAll(arrivals.devices());
    missedDenials.set(true);
    all();
  }

  private void endDenied() {
    try {
      Iterator<DeviceSession> sessions = table.all().iterator();
      while (sessions.hasNext()) {
        endDenied(InboxPatrol.bulkOf(sessions));
      }
    } catch (RedisUnavailable away) {
      missedDenials.set(true);
      throw away;
    }
  }

  /// Compares the devices that were claimed before a missed notice, and that entered the table
  /// after all others were compared.
  private void compareArrived() {
    if (arrivingUncompared.isEmpty()) {
      return;
    }
    // Before the table, as in Registrar#absent.
    List<DeviceKey> over =
        arrivingUncompared.stream().filter(device -> !arrivals.isArriving(device)).toList();
    // First: a device that is added again meanwhile must stay.
    over.forEach(arrivingUncompared::remove);
    try {
      Iterator<DeviceSession> sessions =
          over.stream().map(table::find).filter(Objects::nonNull).iterator();
      while (sessions.hasNext()) {
        List<DeviceSession> some = InboxPatrol.bulkOf(sessions);
        compare(some, IGNORE);
        endDenied(some);
      }
    } catch (RedisUnavailable away) {
      arrivingUncompared.addAll(over);
      throw away;
    }
  }

  private void endDenied(List<DeviceSession> some) {
    Map<DeviceKey, Long> passwordEnds = HashMap.newHashMap(some.size());
    some.forEach(session -> passwordEnds.put(session.key(), session.passwordEnds()));
    Set<DeviceKey> denied = directory.denied(passwordEnds);
    some.stream().filter(session -> denied.contains(session.key())).forEach(DeviceSession::deny);
  }

  /// Compares the sessions of a loop that stood still, before it goes on with them. If the process
  /// is stopped again meanwhile, the earlier answers are out of date, and all these sessions are
  /// compared again.
  ///
  /// @param nanoTime the loop's clock
  /// @return that clock's reading at the last answer
  long allOf(Loop loop, LongSupplier nanoTime) {
    var pulse = new Pulse(nanoTime);
    do {
      pulse.begin();
      compareEach(of(loop), pulse::beat);
    } while (pulse.hasMissed());
    return pulse.lastNanos;
  }

  /// Beats with each answer of the directory. A call has a deadline below [EventLoop#STANDSTILL],
  /// so a longer pause means that the process was stopped.
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
      compare(InboxPatrol.bulkOf(sessions), answered);
    }
  }

  void some(List<DeviceSession> sessions) {
    try {
      compare(sessions, IGNORE);
    } catch (RedisUnavailable away) {
      health.failed(away);
    }
  }

  private void compare(List<DeviceSession> sessions, Runnable answered) {
    List<DeviceKey> devices = sessions.stream().map(DeviceSession::key).toList();
    Map<DeviceKey, SessionOwner> owners = directory.owners(devices);
    answered.run();
    Map<DeviceKey, DeviceSession> unknown = new HashMap<>();
    for (int index = 0; index < devices.size(); index++) {
      DeviceSession session = sessions.get(index);
      DeviceKey device = devices.get(index);
      // A session that has ended meanwhile was released, and would be announced for ever.
      if (enforce(session, owners.get(device)) instanceof Tenure.Unknown
          && table.find(device) == session) {
        unknown.put(device, session);
      }
    }
    if (!unknown.isEmpty()) {
      announce(unknown, answered);
    }
  }

  private void announce(Map<DeviceKey, DeviceSession> unknown, Runnable answered) {
    Map<DeviceKey, Announced> announced = new HashMap<>();
    unknown.forEach((device, session) -> {
      // Before it is announced, because it may end meanwhile.
      session.presume();
      announced.put(device, new Announced(session.epoch(), session.passwordEnds()));
    });
    Directory.Announcement answer = directory.announce(announced);
    answered.run();
    answer.denied().forEach(device -> Objects.requireNonNull(unknown.get(device)).deny());
    answer
        .owners()
        .forEach((device, owner) -> {
          DeviceSession session = unknown.get(device);
          if (session == null || table.find(device) != session) {
            return;
          }
          if (enforce(session, owner) instanceof Tenure.Kept) {
            metrics.reannounced.increment();
            lookIntoInbox(session);
          }
        });
    announcedAtMillis = clock.millis();
  }

  /// Whether a packet that is read now was sent after the last announcement, rather than before it
  /// and then waited in a socket.
  boolean hearsAfterAnnouncing() {
    return clock.millis() - announcedAtMillis > WAITS_IN_SOCKETS.toMillis();
  }

  private static void lookIntoInbox(DeviceSession session) {
    session.loop().execute(session::askForParked);
  }

  /// Ends the session if another node owns its device, and adopts a newer epoch of this node.
  Tenure enforce(DeviceSession session, @Nullable SessionOwner owner) {
    Tenure tenure = Fencing.judge(node, session.epoch(), owner);
    switch (tenure) {
      case Tenure.Kept(), Tenure.Unknown() -> {}
      case Tenure.Renewed(long epoch) -> {
        // The newer epoch belongs to a connection that is arriving: if this session adopted it, its
        // end would remove that connection's entry.
        if (!arrivals.isArriving(session.key())) {
          session.adoptEpoch(epoch);
        }
      }
      case Tenure.Lost(_) -> session.lose();
    }
    return tenure;
  }

  private static Duration shorter(Duration one, Duration other) {
    return one.compareTo(other) < 0 ? one : other;
  }

  private static Duration longer(Duration one, Duration other) {
    return one.compareTo(other) > 0 ? one : other;
  }
}
