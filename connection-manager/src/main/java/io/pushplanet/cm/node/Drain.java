package io.pushplanet.cm.node;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.ServerReferences;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.Iterator;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Empties this node without losing a message. The node admits no device any more and is not ready;
/// after a notice, in which load balancers see that, devices are sent elsewhere at a set rate. A
/// device with messages in flight may acknowledge them first; the others go back to their gateway
/// as `not here`, which parks them or uses another channel.
///
/// There is one drain at a time; starting it again only changes its rate. The node stays closed to
/// devices until [#cancel]. A device whose claim was under way when the drain began is sent
/// elsewhere when it arrives. Thread-safe.
final class Drain {
  static final int MAX_PER_SECOND = 100_000;

  private static final Logger LOG = LoggerFactory.getLogger(Drain.class);
  private static final Duration TURN = Duration.ofMillis(50);
  // The bytes of a DISCONNECT besides its Server Reference, at most.
  private static final int AROUND_REFERENCE = 9;

  private final SessionTable sessions;
  private final Admission admission;
  private final ServerReferences serverReferences;
  private final NodeSettings.Drain settings;
  private final InstantSource clock;
  private final LongSupplier nanoTime;
  private final Runnable announce;
  private final Registrar.Timer timer;

  @GuardedBy("this")
  private @Nullable Run current;

  enum State {
    /// The node admits devices.
    OPEN,
    /// The node admits no device, and load balancers have time to notice.
    CLOSING,
    /// Devices are sent elsewhere.
    MOVING,
    /// No device is left.
    EMPTY
  }

  /// @param told devices that were sent elsewhere
  /// @param secondsLeft at this rate
  record Progress(
      State state,
      int perSecond,
      int sessionsAtStart,
      long told,
      long secondsLeft,
      @Nullable Instant startedAt) {}

  private static final class Run {
    final Instant startedAt;
    final int sessionsAtStart;
    // Zero once the node has been empty, or no device is moved any more.
    final CountDownLatch ended = new CountDownLatch(1);
    final AtomicBoolean moves = new AtomicBoolean();
    final AtomicLong told = new AtomicLong();
    volatile State state = State.CLOSING;
    volatile int perSecond;
    volatile boolean calledOff;
    // Confined to the turns, which follow one another.
    Iterator<DeviceSession> round = Collections.emptyIterator();
    double allowed = 1;
    long lastNanos;

    Run(Instant startedAt, int sessionsAtStart, int perSecond) {
      this.startedAt = startedAt;
      this.sessionsAtStart = sessionsAtStart;
      this.perSecond = perSecond;
    }
  }

  /// @param announce tells other processes that this node's state has changed; blocks
  /// @param timer runs each task on a thread of its own: while Redis is slow, the drain at a stop
  ///     must not wait for `announce`
  Drain(
      SessionTable sessions,
      Admission admission,
      ServerReferences serverReferences,
      NodeSettings.Drain settings,
      InstantSource clock,
      LongSupplier nanoTime,
      Runnable announce,
      Registrar.Timer timer) {
    this.sessions = sessions;
    this.admission = admission;
    this.serverReferences = serverReferences;
    this.settings = settings;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.announce = announce;
    this.timer = timer;
  }

  synchronized Progress progress() {
    Run run = current;
    if (run == null) {
      return new Progress(State.OPEN, 0, 0, 0, 0, null);
    }
    int left = sessions.size();
    return new Progress(
        run.state,
        run.perSecond,
        run.sessionsAtStart,
        run.told.get(),
        Math.ceilDiv(left, run.perSecond),
        run.startedAt);
  }

  /// Starts a drain, or changes the rate of the one under way.
  synchronized Progress begin(int perSecond) {
    Run run = current;
    if (run == null) {
      start(perSecond);
    } else {
      run.perSecond = perSecond;
    }
    return progress();
  }

  @GuardedBy("this")
  private Run start(int perSecond) {
    var run = new Run(clock.instant(), sessions.size(), perSecond);
    current = run;
    admission.drain();
    LOG.info("event=drain_started sessions={} per_second={}", run.sessionsAtStart, perSecond);
    timer.after(Duration.ZERO, announce);
    timer.after(settings.notice(), () -> move(run));
    return run;
  }

  /// Admits devices again. Devices that were sent away are not called back.
  synchronized Progress cancel() {
    Run run = current;
    if (run != null) {
      current = null;
      end(run);
      admission.reopen();
      LOG.info("event=drain_cancelled told={} sessions_left={}", run.told, sessions.size());
      timer.after(Duration.ZERO, announce);
    }
    return progress();
  }

  /// The process ends: drains without a notice, fast enough to finish within `longest`, and waits
  /// for at most that time.
  void finishWithin(Duration longest) throws InterruptedException {
    Run run;
    synchronized (this) {
      // Half of the time is for sending devices away, half for their last acknowledgements.
      int needed =
          (int)
              Math.min(MAX_PER_SECOND, sessions.size() * 2_000L / Math.max(1, longest.toMillis()));
      int perSecond = Math.max(settings.perSecond(), needed);
      run = current == null ? start(perSecond) : current;
      run.perSecond = Math.max(run.perSecond, perSecond);
    }
    timer.after(Duration.ZERO, () -> move(run));
    if (!run.ended.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.warn("event=drain_cut_short sessions_left={}", sessions.size());
    }
    end(run);
  }

  private static void end(Run run) {
    run.calledOff = true;
    run.ended.countDown();
  }

  /// When the notice is over, or the process ends.
  private void move(Run run) {
    if (run.moves.compareAndSet(false, true)) {
      run.lastNanos = nanoTime.getAsLong();
      turn(run);
    }
  }

  private void turn(Run run) {
    if (run.calledOff) {
      return;
    }
    try {
      look(run);
      sendSome(run);
    } catch (RuntimeException | Error bug) {
      LOG.error("event=drain_error", bug);
    } finally {
      timer.after(TURN, () -> turn(run));
    }
  }

  private void sendSome(Run run) {
    long now = nanoTime.getAsLong();
    double earned = (now - run.lastNanos) / 1e9 * run.perSecond;
    // After a stall the missed devices are not all sent away at once.
    run.allowed = Math.min(run.allowed + earned, run.perSecond);
    run.lastNanos = now;
    if (!run.round.hasNext()) {
      run.round = sessions.all().iterator();
    }
    while (run.allowed >= 1 && run.round.hasNext()) {
      DeviceSession session = run.round.next();
      if (!session.isLeaving()) {
        run.allowed--;
        session.loop().execute(() -> sendAway(session, run));
      }
    }
  }

  private void look(Run run) {
    boolean empty = sessions.size() == 0;
    run.state = empty ? State.EMPTY : State.MOVING;
    if (empty && run.ended.getCount() > 0) {
      long took = Duration.between(run.startedAt, clock.instant()).toMillis();
      LOG.info("event=drain_finished told={} millis={}", run.told, took);
      run.ended.countDown();
    }
  }

  /// A loop that needs longer than a turn gets the same device again.
  private void sendAway(DeviceSession session, Run run) {
    if (session.isLeaving() || session.isGone()) {
      return;
    }
    run.told.incrementAndGet();
    MqttProperties.Builder properties = MqttProperties.builder();
    serverReferences
        .reference(session.listenerKind())
        .filter(address -> address.length() + AROUND_REFERENCE <= session.terms().largestPacket())
        .ifPresent(address -> properties.text(PropertyId.SERVER_REFERENCE, address));
    session.leave(
        serverReferences.hasOtherNode()
            ? ReasonCode.USE_ANOTHER_SERVER
            : ReasonCode.SERVER_SHUTTING_DOWN,
        properties.build(),
        settings.settle().toNanos());
  }
}
