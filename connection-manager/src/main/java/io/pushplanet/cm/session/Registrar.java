package io.pushplanet.cm.session;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.session.Directory.Remembered;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.session.Fencing.Tenure;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Notice;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells the directory who is here, and learns who is not any more ([why so](RATIONALE.md)). Thread-safe; callers never wait
/// (but for [#stoodStill]): the work is done by workers, at most [Settings#concurrent] at once, at most [Settings#waiting] in
/// line.
///
/// That a device is elsewhere is learnt from the other node's claim ([#takenOver], within milliseconds), from a gateway's frame
/// that carries a newer epoch ([#doubt]), after this process stood still ([#stoodStill], before it acts), and at the latest
/// from the comparison of all sessions every [Settings#verifyEvery].
///
/// While the directory is away sessions live on, new ones under a provisional epoch of the same form (the clock's
/// milliseconds); when it is back they are announced and their inbox is drained.
public final class Registrar implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);
  private static final int BULK = 500;
  private static final DeviceKey NOBODY =
      new DeviceKey(new AppId("nobody"), new DeviceId("nobody"));
  private static final Duration STANDSTILL_CHECK = Duration.ofSeconds(5);

  private final Directory directory;
  private final NodeId node;
  private final SessionTable table;
  private final SessionMetrics metrics;
  private final InstantSource clock;
  private final Settings settings;
  private final Executor workers;
  private final Semaphore concurrent;
  private final AtomicInteger waiting = new AtomicInteger();
  // Devices between claim and session, with the highest epoch that another node was heard to have.
  private final ConcurrentHashMap<DeviceKey, Long> arriving = new ConcurrentHashMap<>();
  private final AtomicLong rounds = new AtomicLong();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean reachable = true;

  /// @param patrolEvery within this time the inbox of every device here is looked into once
  public record Settings(int concurrent, int waiting, Duration verifyEvery, Duration patrolEvery) {
    private long patrolRounds() {
      return Math.max(1, patrolEvery.dividedBy(verifyEvery));
    }
  }

  /// @param epoch under which this node owns the device
  /// @param remembered the persistent session that can be resumed
  public record Claim(long epoch, Optional<Remembered> remembered) {}

  /// @param workers run what blocks
  public Registrar(
      Directory directory,
      NodeId node,
      SessionTable table,
      SessionMetrics metrics,
      MeterRegistry meters,
      InstantSource clock,
      Settings settings,
      Executor workers) {
    this.directory = directory;
    this.node = node;
    this.table = table;
    this.metrics = metrics;
    this.clock = clock;
    this.settings = settings;
    this.workers = workers;
    this.concurrent = new Semaphore(settings.concurrent());
    Gauge.builder("cm.session.registrations.waiting", waiting, AtomicInteger::get).register(meters);
    Gauge.builder("cm.session.directory.reachable", this, it -> it.reachable ? 1 : 0)
        .register(meters);
  }

  /// Whether the directory answered last time.
  public boolean isReachable() {
    return reachable;
  }

  /// Takes the device over for this node. `then` runs on a worker, and must end in [#arrived]; false when too many are in line.
  ///
  /// @param resume whether the device wants its former session
  public boolean claim(DeviceKey device, boolean resume, Consumer<Claim> then) {
    arriving.putIfAbsent(device, 0L);
    boolean inLine = submit(() -> then.accept(claimNow(device, resume)));
    if (!inLine) {
      arriving.remove(device);
    }
    return inLine;
  }

  private Claim claimNow(DeviceKey device, boolean resume) {
    if (!reachable) {
      return provisional(device);
    }
    long epoch;
    try {
      var claimed = directory.claim(device);
      epoch = claimed.epoch();
      if (claimed.former().filter(former -> !former.node().equals(node)).isPresent()) {
        metrics.takeovers.increment();
      }
    } catch (DirectoryUnavailable away) {
      failed(away);
      return provisional(device);
    }
    try {
      if (resume) {
        return new Claim(epoch, directory.resume(device, epoch));
      }
      directory.forget(device, epoch);
    } catch (DirectoryUnavailable away) {
      failed(away);
    }
    return new Claim(epoch, Optional.empty());
  }

  private Claim provisional(DeviceKey device) {
    var held = table.find(device);
    long now = clock.millis();
    return new Claim(held == null ? now : Math.max(now, held.epoch() + 1), Optional.empty());
  }

  /// The claimed connection has its session in the table, or has come to nothing.
  ///
  /// @return whether it is still this node's: false when another one was heard to have claimed the device since
  public boolean arrived(DeviceKey device, long epoch) {
    var heard = arriving.remove(device);
    return heard == null || heard < epoch;
  }

  /// The connection for which a device was claimed is gone.
  public void abandon(DeviceKey device, long epoch) {
    arrived(device, epoch);
    if (table.find(device) == null) {
      quietly(() -> directory.release(device, epoch));
    }
  }

  /// The subscription of a persistent session changed.
  public void remember(DeviceSession session) {
    var subscription = session.subscription();
    boolean persistent = session.terms().isPersistent();
    quietly(() -> {
      if (subscription != null && persistent) {
        directory.remember(session.key(), session.epoch(), subscription);
      } else {
        directory.forget(session.key(), session.epoch());
      }
    });
  }

  /// The device went. `expirySeconds` as it wished at last.
  public void release(DeviceSession session, long expirySeconds) {
    var subscription = session.subscription();
    quietly(() -> {
      directory.release(session.key(), session.epoch());
      if (subscription != null && expirySeconds > 0) {
        directory.age(session.key(), session.epoch(), expirySeconds);
      } else {
        directory.forget(session.key(), session.epoch());
      }
    });
  }

  /// Another node says that it has one of our devices.
  public void takenOver(Notice notice) {
    arriving.computeIfPresent(
        notice.device(), (_, heard) -> Math.max(heard, notice.owner().epoch()));
    var session = table.find(notice.device());
    if (session != null) {
      judge(session, notice.owner());
    }
  }

  /// A gateway has seen a newer owner than this session.
  public void doubt(DeviceSession session) {
    metrics.doubted.increment();
    quietly(() -> verify(List.of(session), _ -> false));
  }

  /// Notices may have been missed: looks now rather than at the next round.
  public void doubtAll() {
    submit(() -> verify(_ -> false));
  }

  /// For a time nobody could have told this node anything, and gateways may have given it up: compares everything, and looks
  /// into every inbox.
  public void lapsed() {
    submit(() -> verify(_ -> true));
  }

  /// This process stood still (stopped, paused, starved). Blocks until all sessions are compared with the directory, so that
  /// nothing is delivered or acknowledged under an epoch that was lost meanwhile; at most [#STANDSTILL_CHECK], and not for
  /// longer than the directory takes to fail: without it, this node goes on as it does without Redis.
  public void stoodStill(Duration gap) {
    metrics.standstills.increment();
    LOG.warn("event=stood_still millis={} sessions={}", gap.toMillis(), table.size());
    var compared = new CountDownLatch(1);
    workers.execute(() -> {
      try {
        verify(_ -> true);
      } finally {
        compared.countDown();
      }
    });
    try {
      if (!compared.await(STANDSTILL_CHECK.toMillis(), TimeUnit.MILLISECONDS)) {
        LOG.warn("event=standstill_unverified");
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /// Compares all sessions with the directory until [#close].
  public void start() {
    Thread.ofVirtual()
        .name("cm-verify")
        .start(() -> {
          while (!pause(reachable ? settings.verifyEvery() : Duration.ofSeconds(1))) {
            verifyRound();
          }
        });
  }

  /// One comparison of everything with the directory, and the next part of the patrol: a drain that got lost on its way here
  /// would otherwise wait for the device's next connect.
  public void verifyRound() {
    long round = rounds.getAndIncrement();
    long parts = settings.patrolRounds();
    verify(session -> Math.floorMod(session.key().hashCode() - round, parts) == 0);
  }

  private interface Patrol {
    boolean looksInto(DeviceSession session);
  }

  private void verify(Patrol patrol) {
    try {
      var chunk = new ArrayList<DeviceSession>(BULK);
      boolean asked = false;
      for (var session : table.all()) {
        chunk.add(session);
        if (chunk.size() == BULK) {
          verify(chunk, patrol);
          asked = true;
          chunk.clear();
        }
      }
      if (!chunk.isEmpty()) {
        verify(chunk, patrol);
      } else if (!asked) {
        // Nobody is here; whether the directory is, is to be known all the same.
        directory.owners(List.of(NOBODY));
      }
      if (!reachable) {
        reachable = true;
        LOG.info("event=directory_back sessions={}", table.size());
      }
    } catch (DirectoryUnavailable away) {
      failed(away);
    }
  }

  private void verify(List<DeviceSession> sessions, Patrol patrol) {
    var owners = directory.owners(sessions.stream().map(DeviceSession::key).toList());
    Map<DeviceKey, Long> unknown = new HashMap<>();
    Map<DeviceKey, DeviceSession> byKey = new HashMap<>();
    for (var session : sessions) {
      if (judge(session, owners.get(session.key())) instanceof Tenure.Unknown) {
        unknown.put(session.key(), session.epoch());
        byKey.put(session.key(), session);
      } else if (!session.isLost() && patrol.looksInto(session)) {
        lookIntoInbox(session);
      }
    }
    if (unknown.isEmpty()) {
      return;
    }
    directory
        .announce(unknown)
        .forEach((device, owner) -> {
          var session = byKey.get(device);
          if (session == null || table.find(device) != session) {
            return;
          }
          if (judge(session, owner) instanceof Tenure.Kept) {
            metrics.reannounced.increment();
            var subscription = session.subscription();
            if (subscription != null && session.terms().isPersistent()) {
              directory.remember(device, session.epoch(), subscription);
            }
            lookIntoInbox(session);
          }
        });
  }

  private static void lookIntoInbox(DeviceSession session) {
    session.loop().execute(session::askForParked);
  }

  private Tenure judge(DeviceSession session, @Nullable SessionOwner owner) {
    var tenure = Fencing.judge(node, session.epoch(), owner);
    switch (tenure) {
      case Tenure.Kept(), Tenure.Unknown() -> {}
      case Tenure.Renewed(var epoch) -> session.adoptEpoch(epoch);
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

  private void failed(RuntimeException away) {
    metrics.directoryFailures.increment();
    if (reachable) {
      reachable = false;
      LOG.warn("event=directory_away reason=\"{}\"", away.getMessage());
    }
  }

  private void quietly(Runnable work) {
    boolean taken =
        reachable
            && submit(() -> {
              try {
                work.run();
              } catch (DirectoryUnavailable away) {
                failed(away);
              }
            });
    if (!taken) {
      // The verification and the lease make up for what is not said here.
      metrics.directoryFailures.increment();
    }
  }

  private boolean submit(Runnable work) {
    if (waiting.incrementAndGet() > settings.waiting()) {
      waiting.decrementAndGet();
      return false;
    }
    workers.execute(() -> {
      try {
        concurrent.acquireUninterruptibly();
        try {
          work.run();
        } finally {
          concurrent.release();
        }
      } finally {
        waiting.decrementAndGet();
      }
    });
    return true;
  }

  private boolean pause(Duration length) {
    try {
      return closed.await(length.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /// Waits at most five seconds for releases on their way.
  @Override
  public void close() {
    closed.countDown();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    try {
      while (waiting.get() > 0 && System.nanoTime() < deadline) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
