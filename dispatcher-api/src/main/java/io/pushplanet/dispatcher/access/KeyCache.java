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
import io.pushplanet.dispatcher.limit.Bulkhead;
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

/// API keys in the memory of this process. The change feed reports a committed change within a
/// fraction of a second. Until the feed can be followed (MySQL was away at start), no key is kept.
/// A key in use is read again after half of its time in the cache, so that no key expires while
/// MySQL is away for less than the other half. Thread-safe.
@Component
final class KeyCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(KeyCache.class);
  private static final int MAX_KEYS = 100_000;
  private static final Duration PAUSE = Duration.ofMillis(500);

  /// Any caller can make up key ids, and each unknown id costs a statement before its caller is
  /// identified. So look-ups of unknown keys leave most of the connections to callers that are
  /// known.
  private static final int MAX_LOOK_UPS = 2;

  /// More than a restarted process has callers, whose keys it does not know yet, and fewer than the
  /// server has connections.
  private static final int MAX_IN_LINE = 1_000;

  private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);
  private static final Duration REST = Duration.ofSeconds(1);

  private final KeyMapper keys;
  private final DataSource database;
  private final LoadingCache<String, Optional<StoredKey>> cache;
  private final Bulkhead lookUps =
      new Bulkhead(
          MAX_LOOK_UPS,
          MAX_IN_LINE,
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

  /// @throws ProblemException 503 when too many other callers look up keys that are unknown here
  Optional<StoredKey> find(String id) {
    Optional<StoredKey> known = cache.getIfPresent(id);
    return known == null ? lookUps.call(() -> lookedUp(id)) : known;
  }

  private Optional<StoredKey> lookedUp(String id) {
    return feed == null ? Optional.ofNullable(keys.find(id)) : cache.get(id);
  }

  static LoadingCache<String, Optional<StoredKey>> cache(
      Duration known, Duration unknown, Ticker ticker, Loader loader) {
    return Caffeine.newBuilder()
        .maximumSize(MAX_KEYS)
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
    private final Bulkhead bulkhead;
    private final AtomicLong restsUntilNanos = new AtomicLong(System.nanoTime());

    /// @param read from MySQL
    Loader(Function<String, Optional<StoredKey>> read, Bulkhead bulkhead) {
      this.read = read;
      this.bulkhead = bulkhead;
    }

    @Override
    public Optional<StoredKey> load(String id) {
      return read.apply(id);
    }

    /// Reads the key again in another thread; the request goes on with the cached one. After a
    /// failure no key is read again for a moment, because otherwise each request would begin
    /// another read.
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
              read.complete(bulkhead.call(() -> load(id)));
            } catch (RuntimeException e) {
              rest();
              read.completeExceptionally(unread(String.valueOf(e.getMessage())));
            } catch (Throwable e) {
              // No other refresh of this key begins while this one is open.
              rest();
              read.completeExceptionally(e);
            }
          });
      return read;
    }

    private void rest() {
      restsUntilNanos.set(System.nanoTime() + REST.toNanos());
    }

    /// The cache logs every failure with its stack trace, except this exception. Wrapped in another
    /// one, it would be logged, too.
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
          feed = ChangeFeed.follow(database, this::changed, cache::invalidateAll);
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
