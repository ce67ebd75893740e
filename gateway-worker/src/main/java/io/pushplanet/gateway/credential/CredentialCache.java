package io.pushplanet.gateway.credential;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.pushplanet.common.access.CredentialUnreadable;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.credential.Credential.Apns;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.Credential.VapidKey;
import io.pushplanet.gateway.credential.CredentialLookup.Found;
import io.pushplanet.gateway.credential.CredentialLookup.Missing;
import io.pushplanet.gateway.credential.CredentialLookup.Paused;
import io.pushplanet.gateway.credential.CredentialLookup.Unavailable;
import io.pushplanet.gateway.credential.CredentialLookup.Unreadable;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.time.SteadyClock;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.core.simple.JdbcClient;

/// The apps' active credentials: read and opened once, kept 12 hours, and read again as soon as one
/// of the app's credentials changes, so that the next send uses a new key. A credential that was
/// not found is remembered only for seconds.
///
/// Thread-safe; a miss blocks on the database.
public final class CredentialCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialCache.class);
  private static final Duration LIFE = Duration.ofHours(12);
  private static final Duration LIFE_OF_AN_ABSENCE = Duration.ofSeconds(10);

  private static final Duration FEED_RETRY = Duration.ofSeconds(1);

  /// By then the messages that still found the credential paused are in `later`.
  private static final Duration SETTLED = Duration.ofSeconds(10);

  private static final int MAX_ENTRIES = 20_000;
  private static final String APNS = "apns";
  private static final String FCM = "fcm";
  private static final String HMS = "hms";
  private static final String WEBPUSH = "webpush";
  private static final List<String> APNS_ENVIRONMENTS = List.of("production", "sandbox");
  private static final String ANY = "any";

  private record Key(AppId app, String provider, String environment) {}

  private final JdbcClient database;
  private final DataSource source;
  private final CredentialVault vault;
  private final CredentialPauses pauses;
  private final Clock clock;
  private final Clock steady;

  /// Without it each send that needs a credential would wait for the pool's deadline while MySQL is
  /// away, one after the other, and so would the pushes of other apps behind them in the same AMQP
  /// message.
  private final DatabaseCircuitBreaker breaker;

  private final List<Consumer<AppId>> listeners = new CopyOnWriteArrayList<>();
  private final Cache<Key, CredentialLookup<? extends Credential>> cache;
  private final CountDownLatch closed = new CountDownLatch(1);

  /// One change after the other: after a thousand of them at once, sends would find no free
  /// connection to MySQL.
  private final ExecutorService replacements =
      Executors.newSingleThreadExecutor(Thread.ofVirtual().name("credential-replaced").factory());

  private final AtomicReference<@Nullable ChangeFeed> feed = new AtomicReference<>();

  CredentialCache(
      DataSource source,
      CredentialVault vault,
      CredentialPauses pauses,
      Clock clock,
      Ticker ticker,
      MeterRegistry meters) {
    this.source = source;
    this.pauses = pauses;
    this.clock = clock;
    this.steady = new SteadyClock(clock);
    this.breaker = new DatabaseCircuitBreaker(ticker::read);
    this.database = JdbcClient.create(source);
    this.vault = vault;
    this.cache =
        Caffeine.newBuilder()
            .maximumSize(MAX_ENTRIES)
            .ticker(ticker)
            .recordStats()
            .expireAfter(
                Expiry.<Key, CredentialLookup<? extends Credential>>creating((_, found) ->
                    found instanceof Found || found instanceof Paused ? LIFE : LIFE_OF_AN_ABSENCE))
            .build();
    CaffeineCacheMetrics.monitor(meters, cache, "gateway.credentials");
  }

  /// Follows the changes from now on, as soon as the database can be read.
  public void start() {
    Thread.ofVirtual().name("credential-feed").start(this::follow);
  }

  private void follow() {
    try {
      do {
        try {
          feed.set(ChangeFeed.follow(source, this::changed, cache::invalidateAll));
          breaker.answered();
          if (closed.getCount() == 0) {
            close();
          }
          return;
        } catch (SQLException | RuntimeException | Error e) {
          LOG.warn("event=credential_feed_waits reason=\"{}\"", e.toString());
        }
      } while (!closed.await(FEED_RETRY.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// @param listener hears of each app whose credentials have changed, on the thread that reads the
  ///     changes
  public void onChange(Consumer<AppId> listener) {
    listeners.add(listener);
  }

  /// Invalidates by key instead of looking for entries, because that also waits for a load under
  /// way.
  void changed(Change change) {
    if (change.kind() != Change.Kind.CREDENTIAL) {
      return;
    }
    // The feed has just read the change from MySQL, so it answers.
    breaker.answered();
    APNS_ENVIRONMENTS.forEach(e -> forget(new Key(change.app(), APNS, e)));
    forget(new Key(change.app(), FCM, ""));
    forget(new Key(change.app(), HMS, ""));
    forget(new Key(change.app(), WEBPUSH, ""));
    listeners.forEach(listener -> listener.accept(change.app()));
    LOG.info("event=credential_changed appId={}", change.app());
  }

  private void forget(Key key) {
    CredentialLookup<? extends Credential> before = cache.getIfPresent(key);
    cache.invalidate(key);
    String why = pausedBecause(before).orElse(CredentialLookup.Unreadable.REASON);
    Runnable goOn = () -> goOn(key, why);
    replacements.execute(goOn);
    CompletableFuture.delayedExecutor(SETTLED.toMillis(), TimeUnit.MILLISECONDS, replacements)
        .execute(goOn);
  }

  private static Optional<String> pausedBecause(
      @Nullable CredentialLookup<? extends Credential> found) {
    return switch (found) {
      case Paused<? extends Credential>(String why) -> Optional.of(why);
      case Found<? extends Credential>(Credential _, CredentialStanding standing) ->
          standing.pausedBecause();
      case null -> Optional.empty();
      case Missing<? extends Credential> _,
          Unreadable<? extends Credential> _,
          Unavailable<? extends Credential> _ ->
          Optional.empty();
    };
  }

  /// Another credential is there, or the same is accepted again: the messages that waited for it
  /// may go.
  private void goOn(Key key, String why) {
    if (lookup(key) instanceof Found) {
      pauses.bringForward(key.app(), key.provider(), why);
    }
  }

  /// The credential for tokens of an environment: that environment's, or else one for any.
  public CredentialLookup<Apns> apns(AppId app, String environment) {
    if (!APNS_ENVIRONMENTS.contains(environment)) {
      return new Missing<>();
    }
    return narrowed(lookup(new Key(app, APNS, environment)), Apns.class);
  }

  /// The app's service account.
  public CredentialLookup<FcmServiceAccount> fcm(AppId app) {
    return narrowed(lookup(new Key(app, FCM, "")), FcmServiceAccount.class);
  }

  /// The app's client at Huawei.
  public CredentialLookup<HmsClient> hms(AppId app) {
    return narrowed(lookup(new Key(app, HMS, "")), HmsClient.class);
  }

  /// The app's VAPID key.
  public CredentialLookup<VapidKey> webPush(AppId app) {
    return narrowed(lookup(new Key(app, WEBPUSH, "")), VapidKey.class);
  }

  private CredentialLookup<? extends Credential> lookup(Key key) {
    try {
      return cache.get(key, this::load);
    } catch (DataAccessException e) {
      return new Unavailable<>(String.valueOf(e.getMostSpecificCause().getMessage()));
    }
  }

  /// @throws DataAccessException when MySQL does not answer, or did not a moment ago
  private CredentialLookup<? extends Credential> load(Key key) {
    if (!breaker.mayAsk()) {
      throw new DataAccessResourceFailureException("MySQL did not answer a moment ago");
    }
    try {
      CredentialLookup<? extends Credential> found = chosen(key);
      breaker.answered();
      return found;
    } catch (DataAccessException e) {
      // Also where all connections are in use: each send would wait for one.
      breaker.failed();
      throw e;
    }
  }

  /// The active credential, unless the provider refuses it and the former one still overlaps: then
  /// that one stands in.
  private CredentialLookup<? extends Credential> chosen(Key key) {
    List<Candidate> candidates = candidates(key);
    if (candidates.isEmpty()) {
      return new Missing<>();
    }
    Candidate first = candidates.getFirst();
    Candidate chosen =
        candidates.stream().filter(it -> it.pauseReason() == null).findFirst().orElse(first);
    if (chosen.pauseReason() != null) {
      return new Paused<>(chosen.pauseReason());
    }
    if (chosen.row().id() != first.row().id()) {
      LOG.warn(
          "event=former_credential_stands_in appId={} provider={} credentialId={}",
          key.app(),
          key.provider(),
          chosen.row().id());
    }
    return opened(key, chosen.row());
  }

  private CredentialLookup<? extends Credential> opened(Key key, CredentialRow row) {
    try {
      byte[] secret =
          vault.decrypt(key.app(), row.provider(), row.environment(), row.id(), row.secret());
      return new Found<>(
          CredentialParser.parse(row, secret),
          new CredentialStanding(
              row.id(), key.app(), row.provider(), row.environment(), steady, pauses));
    } catch (CredentialUnreadable | IllegalArgumentException e) {
      LOG.error(
          "event=credential_unreadable appId={} credentialId={} reason=\"{}\"",
          key.app(),
          row.id(),
          e.getMessage());
      return new Unreadable<>(String.valueOf(e.getMessage()));
    }
  }

  private record Candidate(CredentialRow row, boolean active, @Nullable String pauseReason) {}

  /// The best first: those of the best environment, active before overlapping, newer before older.
  private List<Candidate> candidates(Key key) {
    List<Candidate> all =
        database
            .sql(
                """
                SELECT id, provider, environment, kind, detail, secret, state, pause_reason FROM credentials
                WHERE app_id = :app AND provider = :provider
                  AND (state = 'active' OR (state = 'overlapping' AND overlap_until > :now))
                """)
            .param("app", key.app().value())
            .param("provider", key.provider())
            .param("now", Timestamp.from(clock.instant()))
            .query((row, _) ->
                new Candidate(
                    CredentialRow.of(row),
                    row.getString("state").equals("active"),
                    row.getString("pause_reason")))
            .list();
    int best = all.stream().mapToInt(it -> rank(it.row(), key)).max().orElse(0);
    return all.stream()
        .filter(it -> best > 0 && rank(it.row(), key) == best)
        .sorted(
            Comparator.comparing(Candidate::active).thenComparing(it -> it.row().id()).reversed())
        .toList();
  }

  /// An exact environment comes before `any`. FCM, HMS and Web Push know no environments, whatever
  /// the row says.
  private static int rank(CredentialRow row, Key key) {
    if (!key.provider().equals(APNS)) {
      return 1;
    }
    if (row.environment().equals(key.environment())) {
      return 2;
    }
    return row.environment().equals(ANY) ? 1 : 0;
  }

  private static <C extends Credential> CredentialLookup<C> narrowed(
      CredentialLookup<? extends Credential> found, Class<C> kind) {
    return switch (found) {
      case Found<? extends Credential>(Credential credential, CredentialStanding standing) ->
          kind.isInstance(credential)
              ? new Found<>(kind.cast(credential), standing)
              : new Unreadable<>("not a credential of this provider");
      case Missing<? extends Credential> _ -> new Missing<>();
      case Paused<? extends Credential>(String why) -> new Paused<>(why);
      case Unreadable<? extends Credential>(String why) -> new Unreadable<>(why);
      case Unavailable<? extends Credential>(String why) -> new Unavailable<>(why);
    };
  }

  @Override
  public void close() {
    closed.countDown();
    ChangeFeed following = feed.getAndSet(null);
    if (following != null) {
      following.close();
    }
    replacements.shutdownNow();
  }
}
