package io.pushplanet.cm.session;

import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionDirectory;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells the session directory who is here, and learns from it who is not any more. Thread-safe; callers never wait: the
/// work is done on virtual threads, at most [Settings#concurrent] at once, at most [Settings#waiting] in line.
///
/// While Redis is away sessions live on under a provisional epoch of the same form (the clock's milliseconds). Every
/// [Settings#verifyEvery] all sessions are compared with the directory in bulk: the unknown ones are announced again and
/// their inbox is drained, the ones somebody else has by now are fenced.
public final class Registrar implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);
  private static final int BULK = 500;
  private static final Duration LONGEST = SessionMemory.LONGEST;

  private final SessionDirectory directory;
  private final SessionMemory memory;
  private final NodeId node;
  private final SessionTable table;
  private final SessionMetrics metrics;
  private final InstantSource clock;
  private final Settings settings;
  private final ExecutorService workers;
  private final Semaphore concurrent;
  private final AtomicInteger waiting = new AtomicInteger();
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile boolean reachable = true;

  public record Settings(int concurrent, int waiting, Duration verifyEvery) {}

  /// @param epoch under which this node owns the device
  /// @param registered whether the directory knows, or will be told later
  /// @param remembered the subscription of a persistent session that can be resumed
  public record Claim(long epoch, boolean registered, Optional<Subscription> remembered) {}

  public Registrar(
      SessionDirectory directory,
      StatefulRedisConnection<String, String> redis,
      NodeId node,
      SessionTable table,
      SessionMetrics metrics,
      MeterRegistry meters,
      InstantSource clock,
      Settings settings) {
    this.directory = directory;
    this.memory = new SessionMemory(redis);
    this.node = node;
    this.table = table;
    this.metrics = metrics;
    this.clock = clock;
    this.settings = settings;
    this.concurrent = new Semaphore(settings.concurrent());
    this.workers =
        Executors.newThreadPerTaskExecutor(Thread.ofVirtual().name("cm-registrar-", 0).factory());
    Gauge.builder("cm.session.registrations.waiting", waiting, AtomicInteger::get).register(meters);
    Gauge.builder("cm.session.directory.reachable", this, it -> it.reachable ? 1 : 0)
        .register(meters);
  }

  /// Whether Redis answered last time.
  public boolean isReachable() {
    return reachable;
  }

  /// Takes the device over for this node. `then` runs on a worker; false when too many are in line.
  ///
  /// @param resume whether the device wants its former session
  public boolean claim(DeviceKey device, boolean resume, Consumer<Claim> then) {
    return submit(() -> then.accept(claimNow(device, resume)));
  }

  private Claim claimNow(DeviceKey device, boolean resume) {
    if (!reachable) {
      return new Claim(clock.millis(), false, Optional.empty());
    }
    try {
      Optional<Subscription> remembered = Optional.empty();
      if (resume) {
        remembered = memory.recall(device);
      } else {
        memory.forget(device);
      }
      return new Claim(directory.claim(device, node), true, remembered);
    } catch (DirectoryUnavailable | RedisException away) {
      failed(away);
      return new Claim(clock.millis(), false, Optional.empty());
    }
  }

  /// The subscription of a persistent session changed.
  public void remember(DeviceSession session) {
    var subscription = session.subscription();
    boolean persistent = session.terms().isPersistent();
    quietly(() -> {
      if (subscription != null && persistent) {
        memory.remember(session.key(), subscription, LONGEST);
      } else {
        memory.forget(session.key());
      }
    });
  }

  /// The device went. `expirySeconds` as it wished at last.
  public void release(DeviceSession session, long expirySeconds) {
    var subscription = session.subscription();
    quietly(() -> {
      directory.release(session.key(), node, session.epoch());
      if (subscription != null && expirySeconds > 0) {
        var kept = Duration.ofSeconds(Math.min(expirySeconds, LONGEST.toSeconds()));
        memory.age(session.key(), kept);
      } else if (table.find(session.key()) == null) {
        memory.forget(session.key());
      }
    });
  }

  /// Compares all sessions with the directory until [#close].
  ///
  /// @param returned told of each session that the directory did not know and now does
  public void start(Consumer<DeviceSession> returned) {
    Thread.ofVirtual()
        .name("cm-verify")
        .start(() -> {
          while (!pause(reachable ? settings.verifyEvery() : Duration.ofSeconds(1))) {
            verify(returned);
          }
        });
  }

  void verify(Consumer<DeviceSession> returned) {
    try {
      var chunk = new ArrayList<DeviceSession>(BULK);
      boolean asked = false;
      for (var session : table.all()) {
        chunk.add(session);
        if (chunk.size() == BULK) {
          verify(chunk, returned);
          asked = true;
          chunk.clear();
        }
      }
      if (!chunk.isEmpty() || !asked) {
        verify(chunk, returned);
      }
      if (chunk.isEmpty() && !asked) {
        directory.nodes();
      }
      if (!reachable) {
        reachable = true;
        LOG.info("event=directory_back sessions={}", table.size());
      }
    } catch (DirectoryUnavailable | RedisException away) {
      failed(away);
    }
  }

  private void verify(List<DeviceSession> sessions, Consumer<DeviceSession> returned) {
    var owners = directory.owners(sessions.stream().map(DeviceSession::key).toList());
    Map<DeviceKey, Long> unknown = new HashMap<>();
    Map<DeviceKey, DeviceSession> byKey = new HashMap<>();
    for (var session : sessions) {
      var owner = owners.get(session.key());
      if (owner != null && owner.epoch() > session.epoch()) {
        lost(session, owner.node(), owner.epoch());
      } else if (owner == null || owner.epoch() < session.epoch()) {
        unknown.put(session.key(), session.epoch());
        byKey.put(session.key(), session);
      }
    }
    if (unknown.isEmpty()) {
      return;
    }
    directory
        .announce(unknown, node)
        .forEach((device, owner) -> {
          var session = byKey.get(device);
          if (session == null || table.find(device) != session) {
            return;
          }
          if (owner.epoch() > session.epoch()) {
            lost(session, owner.node(), owner.epoch());
          } else {
            metrics.reannounced.increment();
            if (session.subscription() != null && session.terms().isPersistent()) {
              remember(session);
            }
            returned.accept(session);
          }
        });
  }

  private void lost(DeviceSession session, NodeId owner, long epoch) {
    if (owner.equals(node)) {
      // This node claimed again for a connection that did not come to be.
      session.adoptEpoch(epoch);
    } else {
      // An epoch is the time of its claim, unless two claims shared a millisecond.
      metrics.takeover.record(Math.max(0, clock.millis() - epoch), TimeUnit.MILLISECONDS);
      session.loop().execute(session::fence);
    }
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
              } catch (DirectoryUnavailable | RedisException away) {
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
    workers.shutdown();
    try {
      if (!workers.awaitTermination(5, TimeUnit.SECONDS)) {
        workers.shutdownNow();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
