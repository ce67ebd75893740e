package io.pushplanet.gateway.credential;

import static io.pushplanet.common.testing.Eventually.within;
import static org.assertj.core.api.Assertions.assertThat;

import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.credential.CredentialLookup.Unavailable;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.AbstractDataSource;

class CredentialCacheTest {
  private static final int TRIED_AGAIN = 2;

  private final AtomicInteger asked = new AtomicInteger();
  private final CountDownLatch deadline = new CountDownLatch(1);
  private final AtomicLong nanos = new AtomicLong();
  private final DataSource away =
      new AbstractDataSource() {
        @Override
        public Connection getConnection() throws SQLException {
          if (asked.incrementAndGet() == TRIED_AGAIN) {
            await(deadline);
          }
          throw new SQLException("Connection is not available, request timed out after 3000ms");
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
          return getConnection();
        }
      };

  /// Each failed question takes three seconds, and a push to FCM asks four times.
  @Test
  void while_mysql_is_away_it_is_asked_for_a_credential_once_in_three_seconds() {
    deadline.countDown();
    try (CredentialCache cache = cache()) {
      for (int app = 0; app < 20; app++) {
        assertThat(cache.fcm(new AppId("app-" + app))).isInstanceOf(Unavailable.class);
        assertThat(cache.webPush(new AppId("app-" + app))).isInstanceOf(Unavailable.class);
      }
      assertThat(asked).hasValue(1);

      nanos.addAndGet(Duration.ofSeconds(3).toNanos());
      assertThat(cache.fcm(new AppId("app-0"))).isInstanceOf(Unavailable.class);
      assertThat(cache.fcm(new AppId("app-1"))).isInstanceOf(Unavailable.class);
      assertThat(asked).hasValue(2);
    }
  }

  @Test
  void no_other_caller_waits_while_one_tries_mysql_again() throws Exception {
    try (CredentialCache cache = cache()) {
      assertThat(cache.fcm(new AppId("app-0"))).isInstanceOf(Unavailable.class);
      nanos.addAndGet(Duration.ofSeconds(3).toNanos());
      Thread tries = Thread.ofVirtual().start(() -> cache.fcm(new AppId("app-0")));
      within(Duration.ofSeconds(10), () -> assertThat(asked).hasValue(TRIED_AGAIN));

      assertThat(cache.fcm(new AppId("app-1"))).isInstanceOf(Unavailable.class);

      assertThat(asked).hasValue(TRIED_AGAIN);
      deadline.countDown();
      tries.join();
    }
  }

  /// Each change is followed by five questions. Sends need the connections, too.
  @Test
  void a_hundred_changes_at_once_take_one_connection_to_mysql() {
    AtomicInteger underWay = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger answered = new AtomicInteger();
    DataSource slow =
        new AbstractDataSource() {
          @Override
          public Connection getConnection() throws SQLException {
            most.accumulateAndGet(underWay.incrementAndGet(), Math::max);
            LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
            underWay.decrementAndGet();
            answered.incrementAndGet();
            throw new SQLException("gone");
          }

          @Override
          public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
          }
        };
    Ticker beyondTheBreaker = () -> nanos.addAndGet(DatabaseCircuitBreaker.EVERY.toNanos());
    try (CredentialCache cache = cache(slow, beyondTheBreaker)) {
      for (int app = 0; app < 100; app++) {
        cache.changed(new Change(app, Change.Kind.CREDENTIAL, new AppId("app-" + app), "1"));
      }
      within(Duration.ofSeconds(10), () -> assertThat(answered).hasValue(500));
    }
    assertThat(most).hasValue(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private CredentialCache cache() {
    return cache(away, nanos::get);
  }

  private CredentialCache cache(DataSource source, Ticker ticker) {
    SecureRandom random = new SecureRandom();
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    return new CredentialCache(
        source,
        new CredentialVault(MasterKey.parse(MasterKey.generate(random)), random),
        new CredentialPauses(
            source, new Alerts(source, Clock.systemUTC(), meters), Clock.systemUTC(), meters),
        Clock.systemUTC(),
        ticker,
        meters);
  }
}
