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
import io.pushplanet.gateway.credential.Credential.VapidKey;
import io.pushplanet.gateway.credential.CredentialLookup.Found;
import io.pushplanet.gateway.credential.CredentialLookup.Missing;
import io.pushplanet.gateway.credential.CredentialLookup.Unavailable;
import io.pushplanet.gateway.credential.CredentialLookup.Unreadable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;

/// The apps' active credentials: read and opened once, kept 12 hours, read again as soon as one of the app's credentials
/// changes, so that a new key is used for the next send. What was not found is kept only for seconds.
///
/// Thread-safe; a miss blocks on the database.
public final class CredentialCache implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialCache.class);
  private static final Duration LIFE = Duration.ofHours(12);
  private static final Duration LIFE_OF_AN_ABSENCE = Duration.ofSeconds(10);
  private static final Duration FEED_RETRY = Duration.ofSeconds(1);
  private static final int MOST_ENTRIES = 20_000;
  private static final String APNS = "apns";
  private static final String FCM = "fcm";
  private static final String WEBPUSH = "webpush";
  private static final List<String> APNS_ENVIRONMENTS = List.of("production", "sandbox");
  private static final String ANY = "any";

  private record Key(AppId app, String provider, String environment) {}

  private final JdbcClient database;
  private final DataSource source;
  private final CredentialVault vault;
  private final Cache<Key, CredentialLookup<? extends Credential>> cache;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final AtomicReference<@Nullable ChangeFeed> feed = new AtomicReference<>();

  public CredentialCache(
      DataSource source, CredentialVault vault, Ticker ticker, MeterRegistry meters) {
    this.source = source;
    this.database = JdbcClient.create(source);
    this.vault = vault;
    this.cache =
        Caffeine.newBuilder()
            .maximumSize(MOST_ENTRIES)
            .ticker(ticker)
            .recordStats()
            .expireAfter(
                Expiry.<Key, CredentialLookup<? extends Credential>>creating(
                    (_, found) -> found instanceof Found ? LIFE : LIFE_OF_AN_ABSENCE))
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
          feed.set(ChangeFeed.follow(source, this::changed));
          cache.invalidateAll();
          if (closed.getCount() == 0) {
            close();
          }
          return;
        } catch (SQLException e) {
          LOG.warn("event=credential_feed_waits reason=\"{}\"", e.getMessage());
        }
      } while (!closed.await(FEED_RETRY.toMillis(), TimeUnit.MILLISECONDS));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Invalidates by key rather than by looking for entries: that also waits for a load under way.
  void changed(Change change) {
    if (change.kind() != Change.Kind.CREDENTIAL) {
      return;
    }
    APNS_ENVIRONMENTS.forEach(e -> cache.invalidate(new Key(change.app(), APNS, e)));
    cache.invalidate(new Key(change.app(), FCM, ""));
    cache.invalidate(new Key(change.app(), WEBPUSH, ""));
    LOG.info("event=credential_changed appId={}", change.app());
  }

  /// The credential for tokens of an environment: of that environment, else one for any.
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

  private CredentialLookup<? extends Credential> load(Key key) {
    CredentialRow row = row(key);
    if (row == null) {
      return new Missing<>();
    }
    try {
      byte[] secret = vault.decrypt(key.app(), row.provider(), row.environment(), row.secret());
      return new Found<>(CredentialParser.parse(row, secret));
    } catch (CredentialUnreadable | IllegalArgumentException e) {
      LOG.error(
          "event=credential_unreadable appId={} credentialId={} reason=\"{}\"",
          key.app(),
          row.id(),
          e.getMessage());
      return new Unreadable<>(String.valueOf(e.getMessage()));
    }
  }

  private @Nullable CredentialRow row(Key key) {
    return database
        .sql(
            """
            SELECT id, provider, environment, kind, detail, secret FROM credentials
            WHERE app_id = :app AND provider = :provider AND state = 'active' ORDER BY id
            """)
        .param("app", key.app().value())
        .param("provider", key.provider())
        .query((row, _) ->
            new CredentialRow(
                row.getLong("id"),
                row.getString("provider"),
                row.getString("environment"),
                row.getString("kind"),
                row.getString("detail"),
                row.getBytes("secret")))
        .list()
        .stream()
        .filter(row -> rank(row, key) > 0)
        .reduce((one, later) -> rank(later, key) >= rank(one, key) ? later : one)
        .orElse(null);
  }

  /// An exact environment before `any`; FCM and Web Push know no environments, whatever the row says.
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
      case Found<? extends Credential>(Credential credential) ->
          kind.isInstance(credential)
              ? new Found<>(kind.cast(credential))
              : new Unreadable<>("not a credential of this provider");
      case Missing<? extends Credential> _ -> new Missing<>();
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
  }
}
