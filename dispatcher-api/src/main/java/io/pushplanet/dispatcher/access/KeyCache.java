package io.pushplanet.dispatcher.access;

import com.github.benmanes.caffeine.cache.CacheLoader;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.dispatcher.limit.Turns;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// API keys in this process's memory. A committed change is told within a fraction of a second; until changes can be
/// followed (MySQL away at start) nothing is kept. A key in use is read anew at half of its time here, so that none ends while
/// MySQL is away for less than the other half. Thread-safe.
@Component
final class KeyCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KeyCache.class);
  private static final int MOST_KEYS = 100_000;
  private static final Duration PAUSE = Duration.ofMillis(500);

  /// Anybody can make up key ids, and each costs a statement before it is known who asks: they leave most of the connections to
  /// those who are known.
  private static final int MOST_LOOK_UPS = 2;

  /// More than a restarted process has callers, whose keys it does not know yet; fewer than the server has connections.
  private static final int MOST_IN_LINE = 1_000;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);
  private static final Duration REST = Duration.ofSeconds(1);

  private final KeyMapper keys;
  private final DataSource database;
  private final LoadingCache<String, Optional<StoredKey>> cache;
  private final Turns lookUps =
      new Turns(
          MOST_LOOK_UPS,
          MOST_IN_LINE,
          LONGEST_WAIT,
          ProblemCode.DATABASE_UNAVAILABLE,
          "Too many keys are looked up just now. Try again.");
  private final CountDownLatch closed = new CountDownLatch(1);
  private volatile @Nullable ChangeFeed feed;

  KeyCache(KeyMapper keys, DataSource database, DispatcherSettings settings, MeterRegistry meters) {
    this.keys = keys;
    this.database = database;
    this.cache =
        cache(
            settings.keyCache(),
            settings.unknownKeyCache(),
            Ticker.systemTicker(),
            new Loader(id -> Optional.ofNullable(keys.find(id)), lookUps));
    CaffeineCacheMetrics.monitor(meters, cache, "api-keys");
    Gauge.builder("pushplanet.changes.followed", this, it -> it.feed == null ? 0 : 1)
        .register(meters);
    Thread.ofVirtual().name("follow-changes").start(this::follow);
  }

  /// @throws ProblemException 503 where too many others look for keys that are unknown here
  Optional<StoredKey> find(String id) {
    Optional<StoredKey> known = cache.getIfPresent(id);
    return known == null ? lookUps.inTurn(() -> lookedUp(id)) : known;
  }

  private Optional<StoredKey> lookedUp(String id) {
    return feed == null ? Optional.ofNullable(keys.find(id)) : cache.get(id);
  }

  static LoadingCache<String, Optional<StoredKey>> cache(
      Duration known, Duration unknown, Ticker ticker, Loader loader) {
    return Caffeine.newBuilder()
        .maximumSize(MOST_KEYS)
        .expireAfter(
            Expiry.<String, Optional<StoredKey>>writing(
                (_, key) -> key.isPresent() ? known : unknown))
        .refreshAfterWrite(known.dividedBy(2))
        .ticker(ticker)
        .recordStats()
        .executor(Runnable::run)
        .build(loader);
  }

  static final class Loader implements CacheLoader<String, Optional<StoredKey>> {
    private final Function<String, Optional<StoredKey>> read;
    private final Turns turns;
    private final AtomicLong restsUntilNanos = new AtomicLong(System.nanoTime());

    /// @param read from MySQL
    Loader(Function<String, Optional<StoredKey>> read, Turns turns) {
      this.read = read;
      this.turns = turns;
    }

    @Override
    public Optional<StoredKey> load(String id) {
      return read.apply(id);
    }

    /// Aside: who asks goes on with the key that is known. After one that failed none is read for a moment, for each request would begin
    /// another.
    @Override
    public CompletableFuture<Optional<StoredKey>> asyncReload(
        String id, Optional<StoredKey> known, Executor executor) {
      CompletableFuture<Optional<StoredKey>> read = new CompletableFuture<>();
      if (System.nanoTime() - restsUntilNanos.get() < 0) {
        read.completeExceptionally(unread("MySQL rests"));
        return read;
      }
      Thread.ofVirtual()
          .name("read-key")
          .start(() -> {
            try {
              read.complete(turns.inTurn(() -> load(id)));
            } catch (RuntimeException e) {
              rest();
              read.completeExceptionally(unread(String.valueOf(e.getMessage())));
            } catch (Throwable e) {
              // While this one is open no other begins.
              rest();
              read.completeExceptionally(e);
            }
          });
      return read;
    }

    private void rest() {
      restsUntilNanos.set(System.nanoTime() + REST.toNanos());
    }

    /// The cache logs every failure with its trace, but this one; within another it would, too.
    private static CancellationException unread(String why) {
      return new CancellationException(why);
    }
  }

  @Override
  public void close() {
    closed.countDown();
    ChangeFeed following = feed;
    if (following != null) {
      following.close();
    }
  }

  private void follow() {
    try {
      do {
        try {
          feed = ChangeFeed.follow(database, this::changed);
          return;
        } catch (SQLException e) {
          LOG.warn("event=changes_not_followed reason=\"{}\"", e.getMessage());
        }
      } while (!closed.await(PAUSE.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void changed(Change change) {
    switch (change.kind()) {
      case API_KEY -> cache.invalidate(change.subject());
      case APP ->
          cache
              .asMap()
              .values()
              .removeIf(key -> key.isPresent() && key.get().appId().equals(change.app().value()));
      case CREDENTIAL -> {}
    }
  }
}
