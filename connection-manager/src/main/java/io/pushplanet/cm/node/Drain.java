package io.pushplanet.cm.node;

import io.pushplanet.cm.admission.Admission;
import io.pushplanet.cm.admission.ServerReferences;
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
  // Guarded by this.
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
    final CountDownLatch calledOff = new CountDownLatch(1);
    // Zero once the node has been empty, or no device is moved any more.
    final CountDownLatch ended = new CountDownLatch(1);
    final CountDownLatch noticeOver = new CountDownLatch(1);
    volatile State state = State.CLOSING;
    volatile int perSecond;
    final AtomicLong told = new AtomicLong();

    Run(Instant startedAt, int sessionsAtStart, int perSecond) {
      this.startedAt = startedAt;
      this.sessionsAtStart = sessionsAtStart;
      this.perSecond = perSecond;
    }

    boolean isCalledOff() {
      return calledOff.getCount() == 0;
    }
  }

  /// @param announce tells other processes that this node's state has changed; blocks
  Drain(
      SessionTable sessions,
      Admission admission,
      ServerReferences serverReferences,
      NodeSettings.Drain settings,
      InstantSource clock,
      LongSupplier nanoTime,
      Runnable announce) {
    this.sessions = sessions;
    this.admission = admission;
    this.serverReferences = serverReferences;
    this.settings = settings;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.announce = announce;
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
      begin(perSecond, settings.notice());
    } else {
      run.perSecond = perSecond;
    }
    return progress();
  }

  private Run begin(int perSecond, Duration notice) {
    var run = new Run(clock.instant(), sessions.size(), perSecond);
    current = run;
    admission.drain();
    LOG.info("event=drain_started sessions={} per_second={}", run.sessionsAtStart, perSecond);
    Thread.ofVirtual().name("cm-drain").start(() -> go(run, notice));
    return run;
  }

  /// Admits devices again. Devices that were sent away are not called back.
  synchronized Progress cancel() {
    Run run = current;
    if (run != null) {
      current = null;
      run.calledOff.countDown();
      admission.reopen();
      LOG.info("event=drain_cancelled told={} sessions_left={}", run.told, sessions.size());
      Thread.ofVirtual().name("cm-drain-cancelled").start(announce);
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
      run = current == null ? begin(perSecond, Duration.ZERO) : current;
      run.perSecond = Math.max(run.perSecond, perSecond);
      run.noticeOver.countDown();
    }
    if (!run.ended.await(longest.toMillis(), TimeUnit.MILLISECONDS)) {
      LOG.warn("event=drain_cut_short sessions_left={}", sessions.size());
    }
    run.calledOff.countDown();
  }

  private void go(Run run, Duration notice) {
    // On a thread of its own: while Redis is slow, the drain at a stop must not wait for it.
    Thread.ofVirtual().name("cm-drain-announce").start(announce);
    try {
      boolean hurried = run.noticeOver.await(notice.toMillis(), TimeUnit.MILLISECONDS);
      LOG.debug("event=drain_moves hurried={}", hurried);
      if (!run.isCalledOff()) {
        moveAll(run);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } finally {
      run.ended.countDown();
    }
  }

  private void moveAll(Run run) throws InterruptedException {
    Iterator<DeviceSession> round = Collections.emptyIterator();
    long lastNanos = nanoTime.getAsLong();
    double allowed = 1;
    do {
      look(run);
      long now = nanoTime.getAsLong();
      double earned = (now - lastNanos) / 1e9 * run.perSecond;
      // After a stall the missed devices are not all sent away at once.
      allowed = Math.min(allowed + earned, Math.max(1, run.perSecond));
      lastNanos = now;
      if (!round.hasNext()) {
        round = sessions.all().iterator();
      }
      while (allowed >= 1 && round.hasNext()) {
        DeviceSession session = round.next();
        if (!session.isLeaving()) {
          allowed--;
          session.loop().execute(() -> sendAway(session));
          run.told.incrementAndGet();
        }
      }
    } while (!run.calledOff.await(TURN.toMillis(), TimeUnit.MILLISECONDS));
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

  private void sendAway(DeviceSession session) {
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
