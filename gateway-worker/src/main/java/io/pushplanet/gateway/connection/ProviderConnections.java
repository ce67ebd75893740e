package io.pushplanet.gateway.connection;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.Expired;
import io.pushplanet.gateway.connection.Reply.NotSent;
import io.pushplanet.gateway.connection.StreamLeases.StreamLease;
import java.io.IOException;
import java.time.Clock;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.commons.pool2.impl.GenericKeyedObjectPool;
import org.apache.commons.pool2.impl.GenericKeyedObjectPoolConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One provider's pooled HTTP/2 connections. A request has one answer, within the time for a free stream and the time for an
/// answer of [ConnectionSettings]; it is written again only when the peer has not looked at it before.
///
/// Thread-safe; calls block, so make them on virtual threads.
public final class ProviderConnections implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderConnections.class);

  /// Streams over all credentials: 2,000 connections at the default of 25.
  private static final int MOST_STREAMS = 50_000;

  /// How often a request is written at most. Each but the last ended on a connection that was going away.
  private static final int MOST_TRIES = 3;

  private final Channel channel;
  private final ConnectionSettings settings;
  private final Clock clock;
  private final Http2Connector connector = new Http2Connector();
  private final GenericKeyedObjectPool<ConnectionTarget, StreamLease> pool;
  private final Cache<ConnectionTarget, Turnstile> turnstiles =
      Caffeine.newBuilder().weakValues().build();
  private final Map<Priority, Timer> waits = new EnumMap<>(Priority.class);

  public ProviderConnections(
      Channel channel, ConnectionSettings settings, Clock clock, MeterRegistry meters) {
    this.channel = channel;
    this.settings = settings;
    this.clock = clock;
    this.pool =
        new GenericKeyedObjectPool<>(new StreamLeases(connector, settings), config(settings));
    Gauge.builder("pushplanet.provider.pool.connections", this, it -> it.connector.count())
        .tag("channel", channel.word())
        .register(meters);
    Gauge.builder("pushplanet.provider.pool.streams.active", this, it -> it.pool.getNumActive())
        .tag("channel", channel.word())
        .register(meters);
    Gauge.builder("pushplanet.provider.pool.streams.idle", this, it -> it.pool.getNumIdle())
        .tag("channel", channel.word())
        .register(meters);
    Gauge.builder("pushplanet.provider.pool.streams.waiting", this, ProviderConnections::waiting)
        .tag("channel", channel.word())
        .register(meters);
    for (Priority priority : Priority.values()) {
      waits.put(
          priority,
          Timer.builder("pushplanet.provider.stream.wait")
              .description("how long a request waits for a stream of its credential's connections")
              .tag("channel", channel.word())
              .tag("priority", priority.name().toLowerCase(Locale.ROOT))
              .publishPercentileHistogram()
              .register(meters));
    }
  }

  private Turnstile turnstile(ConnectionTarget target) {
    return turnstiles.get(
        target, _ -> new Turnstile(settings.perCredential() * settings.streams()));
  }

  private static GenericKeyedObjectPoolConfig<StreamLease> config(ConnectionSettings settings) {
    int perKey = settings.perCredential() * settings.streams();
    GenericKeyedObjectPoolConfig<StreamLease> config = new GenericKeyedObjectPoolConfig<>();
    config.setMaxTotal(MOST_STREAMS);
    // The turnstile is the limit: threads that wait in the pool for others to create spin once
    // their time is up, and on
    // virtual threads that keeps the creators from ever running (Commons Pool 2.13.1).
    config.setMaxTotalPerKey(-1);
    config.setMaxIdlePerKey(perKey);
    config.setBlockWhenExhausted(false);
    config.setTestOnBorrow(true);
    config.setTimeBetweenEvictionRuns(settings.idleTimeout().dividedBy(4));
    config.setMinEvictableIdleDuration(settings.idleTimeout());
    config.setNumTestsPerEvictionRun(-1);
    config.setJmxEnabled(false);
    return config;
  }

  private int waiting() {
    return turnstiles.asMap().values().stream().mapToInt(Turnstile::waiting).sum();
  }

  /// Sends a request.
  ///
  /// @param spoils whether an answer leaves its connection unusable, so that no other request gets on it
  public Reply send(ConnectionTarget target, ProviderRequest request, Predicate<Answered> spoils) {
    for (int tries = 1; tries < MOST_TRIES; tries++) {
      Reply reply = sendOnce(target, request, spoils);
      if (!(reply instanceof NotSent(String why) && isWorthAnother(why))) {
        return reply;
      }
    }
    return sendOnce(target, request, spoils);
  }

  private static boolean isWorthAnother(String why) {
    return switch (why) {
      case "no_connection", "busy", "interrupted", "timeout" -> false;
      default -> true;
    };
  }

  private Reply sendOnce(
      ConnectionTarget target, ProviderRequest request, Predicate<Answered> spoils) {
    Turnstile turnstile = turnstile(target);
    long beganNanos = System.nanoTime();
    try {
      if (!turnstile.enter(request.priority(), settings.connectTimeout())) {
        return new NotSent("busy");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new NotSent("interrupted");
    } finally {
      Timer wait = waits.get(request.priority());
      if (wait != null) {
        wait.record(System.nanoTime() - beganNanos, TimeUnit.NANOSECONDS);
      }
    }
    try {
      return leased(target, request, spoils);
    } finally {
      turnstile.leave();
    }
  }

  private Reply leased(
      ConnectionTarget target, ProviderRequest request, Predicate<Answered> spoils) {
    StreamLease lease;
    try {
      lease = pool.borrowObject(target);
    } catch (NoSuchElementException e) {
      LOG.warn(
          "event=no_free_stream channel={} active={} idle={} reason=\"{}\"",
          channel.word(),
          pool.getNumActive(target),
          pool.getNumIdle(target),
          e.getMessage());
      return new NotSent("no_stream");
    } catch (StreamLeases.NotNow e) {
      return new NotSent("no_connection");
    } catch (IOException e) {
      LOG.warn(
          "event=connect_failed channel={} endpoint={} reason=\"{}\"",
          channel.word(),
          target.endpoint(),
          e.getMessage());
      return new NotSent("no_connection");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new NotSent("interrupted");
    } catch (Exception e) {
      throw new IllegalStateException("the pool broke", e);
    }
    try {
      if (request.expiresAt() != null && !clock.instant().isBefore(request.expiresAt())) {
        return new Expired();
      }
      Reply reply = lease.connection.exchange(request, settings.requestTimeout());
      if (reply instanceof Answered answered && spoils.test(answered)) {
        lease.connection.retire();
      }
      return reply;
    } catch (InterruptedException e) {
      lease.connection.retire();
      Thread.currentThread().interrupt();
      return new Reply.NoAnswer("interrupted");
    } finally {
      giveBack(target, lease);
    }
  }

  private void giveBack(ConnectionTarget target, StreamLease lease) {
    if (lease.connection.isUsable()) {
      pool.returnObject(target, lease);
      return;
    }
    try {
      pool.invalidateObject(target, lease);
    } catch (Exception e) {
      LOG.warn("event=lease_not_returned channel={} reason=\"{}\"", channel.word(), e.toString());
    }
  }

  @Override
  public void close() {
    pool.close();
    connector.close();
  }
}
