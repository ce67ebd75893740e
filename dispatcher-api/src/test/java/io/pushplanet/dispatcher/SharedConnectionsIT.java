package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.security.SecureRandom;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/// All requests share ten connections to MySQL. No kind of request takes them all.
class SharedConnectionsIT {
  private static final int MANY = 15;
  private static final String HELLO =
      "{\"audience\":{\"device\":\"d1\"},\"content\":{\"title\":\"hi\"}}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @Test
  void requests_with_slow_counts_leave_connections_to_others() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");
    AtomicInteger topics = new AtomicInteger();

    List<Answer> counted =
        whileLocked(
            "device_topics",
            () ->
                shop.post(
                    "/messages",
                    "{\"audience\":{\"topic\":\"t"
                        + topics.incrementAndGet()
                        + "\"},\"content\":{\"title\":\"hi\"}}"),
            this::isSent);

    assertThat(counted).allMatch(answer -> answer.status() == 202);
  }

  @Test
  void requests_with_unknown_keys_leave_connections_to_others() throws Exception {
    shop.device("d1", "{\"mqtt\":true}");
    SecureRandom random = new SecureRandom();

    List<Answer> refused =
        whileLocked(
            "api_keys",
            () ->
                dispatcher.call(
                    "GET",
                    "/v1/apps/" + shop.app() + "/devices/d1",
                    "",
                    "Authorization",
                    "Bearer " + ApiKey.generate(random).text().reveal()),
            this::isSent);

    assertThat(refused).allMatch(answer -> answer.status() == 401 || answer.status() == 503);
  }

  /// The route of the device is only in MySQL.
  private void isSent() {
    Answer sent = shop.post("/messages", HELLO);
    assertThat(sent.status()).as(sent.toString()).isEqualTo(202);
  }

  /// Runs a step when as many calls as possible wait for the table.
  ///
  /// @return the answers to the calls
  private List<Answer> whileLocked(String table, Callable<Answer> call, Runnable meanwhile)
      throws Exception {
    List<Future<Answer>> calls = new ArrayList<>();
    List<Answer> answers = new ArrayList<>();
    try (Connection connection = dispatcher.connection();
        var callers = Executors.newFixedThreadPool(MANY)) {
      JdbcTemplate lock = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      lock.execute("LOCK TABLES " + table + " WRITE");
      try {
        for (int i = 0; i < MANY; i++) {
          calls.add(callers.submit(call));
        }
        Eventually.within(
            Duration.ofSeconds(20),
            () ->
                assertThat(waiting(lock) >= 10 || calls.stream().anyMatch(Future::isDone))
                    .isTrue());
        meanwhile.run();
      } finally {
        lock.execute("UNLOCK TABLES");
      }
      for (Future<Answer> one : calls) {
        answers.add(one.get(30, TimeUnit.SECONDS));
      }
    }
    return answers;
  }

  private static long waiting(JdbcTemplate sql) {
    Long waiting =
        sql.queryForObject(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for table%'",
            Long.class);
    return waiting == null ? 0 : waiting;
  }
}
