package io.pushplanet.gateway.http2;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import org.apache.commons.pool2.impl.GenericKeyedObjectPool;
import org.apache.commons.pool2.impl.GenericKeyedObjectPoolConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One provider's pooled HTTP/2 connections. A request has one answer; it is written again only
/// when the peer has not processed it before. It takes at most as long as [ConnectionSettings] say:
/// `connectTimeout` until it may queue, the same until it has a stream, and `requestTimeout` for
/// its answer. The latter two begin anew when it is written again.
///
/// Thread-safe; calls block, so make them on virtual threads.
public final class ProviderConnections implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderConnections.class);

  private static final Duration LOOK_EVERY = Duration.ofMillis(100);

  private final Channel channel;
  private final ConnectionSettings settings;
  private final Http2Connector connector;
  private final GenericKeyedObjectPool<ConnectionTarget, Http2Connection> pool;
  private final Cache<ConnectionTarget, CredentialConnections> inUse =
      Caffeine.newBuilder().weakValues().build();
  private final Map<Priority, Timer> waits = new EnumMap<>(Priority.class);

  public ProviderConnections(
      Channel channel, ConnectionSettings settings, Clock clock, MeterRegistry meters) {
    this(channel, settings, meters, new Http2Connector(settings, clock));
  }

  ProviderConnections(
      Channel channel,
      ConnectionSettings settings,
      MeterRegistry meters,
      Http2Connector connector) {
    this.channel = channel;
    this.settings = settings;
    this.connector = connector;
    this.pool =
        new GenericKeyedObjectPool<>(new PooledConnections(connector, settings), config(settings));
    var _ =
        connector
            .loops()
            .scheduleWithFixedDelay(
                this::look, LOOK_EVERY.toMillis(), LOOK_EVERY.toMillis(), TimeUnit.MILLISECONDS);
    Gauge.builder("pushplanet.provider.pool.connections", this, it -> it.connector.count())
        .tag("channel", channel.word())
        .register(meters);
    Gauge.builder(
            "pushplanet.provider.pool.streams.active",
            this,
            it -> it.sum(CredentialConnections::underWay))
        .tag("channel", channel.word())
        .register(meters);
    Gauge.builder(
            "pushplanet.provider.pool.streams.idle",
            this,
            it -> it.sum(CredentialConnections::free))
        .tag("channel", channel.word())
        .register(meters);
    Gauge.builder(
            "pushplanet.provider.pool.streams.waiting",
            this,
            it -> it.sum(CredentialConnections::waiting))
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

  private int sum(ToIntFunction<CredentialConnections> value) {
    return inUse.asMap().values().stream().mapToInt(value).sum();
  }

  private static GenericKeyedObjectPoolConfig<Http2Connection> config(ConnectionSettings settings) {
    GenericKeyedObjectPoolConfig<Http2Connection> config = new GenericKeyedObjectPoolConfig<>();
    config.setMaxTotal(settings.maxConnections());
    // CredentialConnections is the limit: a connection that is being retired no longer counts.
    config.setMaxTotalPerKey(-1);
    config.setMaxIdlePerKey(settings.perCredential());
    config.setBlockWhenExhausted(false);
    config.setTestOnBorrow(true);
    config.setTimeBetweenEvictionRuns(settings.idleTimeout().dividedBy(4));
    config.setMinEvictableIdleDuration(settings.idleTimeout());
    config.setNumTestsPerEvictionRun(-1);
    config.setJmxEnabled(false);
    return config;
  }

  private void look() {
    try {
      inUse.asMap().values().forEach(CredentialConnections::look);
    } catch (Throwable e) {
      // An exception that left here would end the schedule.
      LOG.error("event=connections_not_looked_after channel={}", channel.word(), e);
    }
  }

  /// Sends a request.
  ///
  /// @param spoils whether an answer leaves its connection unusable. It is asked when the sender
  ///     wakes up, and from then on the connection takes no further request. Requests that it took
  ///     before, even after the answer, end there
  public Reply send(ConnectionTarget target, ProviderRequest request, Predicate<Answered> spoils) {
    CredentialConnections connections = inUse(target);
    long beganNanos = System.nanoTime();
    try {
      if (!connections.bulkhead().acquire(request.priority(), settings.connectTimeout())) {
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
    Exchange exchange = new Exchange(request);
    try {
      connections.submit(exchange);
      Reply reply = exchange.await();
      if (reply instanceof Answered answered && spoils.test(answered)) {
        Http2Connection connection = exchange.connection;
        if (connection != null) {
          connection.retire();
        }
      }
      return reply;
    } catch (InterruptedException e) {
      connections.abandon(exchange);
      Thread.currentThread().interrupt();
      return new NoAnswer("interrupted");
    } finally {
      connections.bulkhead().release();
    }
  }

  /// For requests that are sent without a thread each.
  CredentialConnections inUse(ConnectionTarget target) {
    return inUse.get(target, _ -> new CredentialConnections(target, settings, pool));
  }

  @Override
  public void close() {
    pool.close();
    connector.close();
    inUse.asMap().values().forEach(CredentialConnections::close);
  }
}
