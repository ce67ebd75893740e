package io.pushplanet.gateway.parcel;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Clock;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.datasource.AbstractDataSource;

class SettledBeforeTest {
  private static final Set<MessageId> BROADCAST =
      Set.of(new MessageId("019aa000-0000-7000-8000-000000000001"));

  private final AtomicLong nanos = new AtomicLong();

  /// Has no connection.
  private static final class Away extends AbstractDataSource {
    final AtomicInteger asked = new AtomicInteger();
    SQLException why = new SQLException("connection refused");

    @Override
    public Connection getConnection() throws SQLException {
      asked.incrementAndGet();
      throw why;
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
      return getConnection();
    }
  }

  private final Away mysql = new Away();
  private final SettledBefore settledBefore =
      new SettledBefore(mysql, new DatabaseCircuitBreaker(nanos::get));

  @Test
  void where_mysql_cannot_be_reached_one_batch_in_three_seconds_waits_for_it() {
    for (int batch = 0; batch < 10; batch++) {
      assertThat(settledBefore.cancelled(BROADCAST)).isEmpty();
    }
    assertThat(mysql.asked).hasValue(1);

    nanos.addAndGet(DatabaseCircuitBreaker.EVERY.toNanos());
    for (int batch = 0; batch < 10; batch++) {
      assertThat(settledBefore.cancelled(BROADCAST)).isEmpty();
    }
    assertThat(mysql.asked).hasValue(2);
  }

  /// Otherwise messages would come twice because other callers ask a lot.
  @Test
  void a_pool_without_a_free_connection_is_asked_by_all() {
    mysql.why = new SQLTransientConnectionException("Connection is not available (active=10)");

    for (int batch = 0; batch < 10; batch++) {
      assertThat(settledBefore.cancelled(BROADCAST)).isEmpty();
    }

    assertThat(mysql.asked).hasValue(10);
  }

  @Test
  void after_an_answer_all_callers_ask_again() {
    DatabaseCircuitBreaker breaker = new DatabaseCircuitBreaker(nanos::get);
    SettledBefore before = new SettledBefore(mysql, breaker);
    before.cancelled(BROADCAST);
    assertThat(breaker.mayAsk()).isFalse();

    nanos.addAndGet(DatabaseCircuitBreaker.EVERY.toNanos());
    assertThat(breaker.mayAsk()).isTrue();
    assertThat(breaker.mayAsk()).isFalse();
    breaker.answered();

    assertThat(breaker.mayAsk()).isTrue();
    assertThat(breaker.mayAsk()).isTrue();
  }

  /// Otherwise it would park what was cancelled while the database could not be asked.
  @Test
  void a_caller_that_must_know_asks_and_hears_that_mysql_is_away() {
    settledBefore.cancelled(BROADCAST);
    List<Parcel> parcels =
        aPush(Clock.systemUTC()).toFcm("d1", "t1").build().recipients().stream()
            .map(recipient ->
                new Parcel(aPush(Clock.systemUTC()).toFcm("d1", "t1").build(), recipient, true))
            .toList();
    assertThat(settledBefore.check(parcels).left()).isEqualTo(parcels);

    assertThatThrownBy(() -> settledBefore.mustCheck(parcels))
        .isInstanceOf(DataAccessException.class);

    assertThat(mysql.asked).hasValue(2);
  }
}
