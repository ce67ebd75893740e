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
import java.util.Map;
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

  private static final String TO_USER =
      "{\"audience\":{\"user\":\"u1\"},\"content\":{\"title\":\"hi\"}}";

  private static final String REGISTRATION =
      "{\"platform\":\"android\",\"user\":\"u1\",\"channels\":{\"mqtt\":true}}";

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

  /// The row stays locked while the other app is served.
  @Test
  void changes_of_one_device_leave_connections_to_other_apps() throws Exception {
    RunningDispatcher patient =
        RunningDispatcher.with(Map.of("pushplanet.mysql.answer-within", "30s"));
    Tenant busy = patient.tenant();
    Tenant other = patient.tenant();
    assertThat(busy.put("/devices/d1", REGISTRATION).status()).isEqualTo(201);
    assertThat(other.put("/devices/d1", REGISTRATION).status()).isEqualTo(201);
    String message = other.post("/messages", HELLO).json().get("id").stringValue();
    List<Future<Answer>> calls = new ArrayList<>();

    try (Connection connection = dispatcher.connection();
        var callers = Executors.newFixedThreadPool(MANY)) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
      JdbcTemplate lock = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      lock.queryForList(
          "SELECT device_id FROM devices WHERE app_id = ? AND device_id = 'd1' FOR UPDATE",
          busy.app());
      try {
        for (int i = 0; i < MANY; i++) {
          calls.add(callers.submit(() -> busy.put("/devices/d1", REGISTRATION)));
        }
        Eventually.within(
            Duration.ofSeconds(20),
            () ->
                assertThat(changing(lock) >= 10 || calls.stream().anyMatch(Future::isDone))
                    .isTrue());

        Answer registered = other.put("/devices/d2", REGISTRATION);
        assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
        Answer sent = other.post("/messages", TO_USER);
        assertThat(sent.status()).as(sent.toString()).isEqualTo(202);
        Answer read = other.get("/messages/" + message);
        assertThat(read.status()).as(read.toString()).isEqualTo(200);
      } finally {
        connection.commit();
      }
      for (Future<Answer> call : calls) {
        Answer answer = call.get(30, TimeUnit.SECONDS);
        if (answer.status() != 200) {
          assertThat(answer.status()).as(answer.toString()).isEqualTo(503);
          assertThat(answer.json().get("code").stringValue()).isEqualTo("overloaded");
          assertThat(answer.header("Retry-After")).isEqualTo("1");
        }
      }
    }
    assertThat(calls).anyMatch(call -> call.resultNow().status() == 200);
  }

  /// The tables stay locked while the other app is served. Each kind of request alone is frequent
  /// enough to take all connections.
  @Test
  void reads_of_one_app_leave_connections_to_other_apps() throws Exception {
    RunningDispatcher patient =
        RunningDispatcher.with(Map.of("pushplanet.mysql.answer-within", "30s"));
    Tenant busy = patient.tenant();
    Tenant other = patient.tenant();
    busy.device("d1", "{\"mqtt\":true}");
    other.device("d1", "{\"mqtt\":true}");
    String message = "/messages/" + busy.post("/messages", HELLO).json().get("id").stringValue();
    String channel =
        "/live-activity-channels/"
            + busy.post("/live-activity-channels", "{}").json().get("channel").stringValue();
    List<Callable<Answer>> kinds =
        List.of(
            () -> busy.get("/uplinks"),
            () -> busy.get("/devices/d1"),
            () -> busy.get("/devices/d1/deliveries"),
            () -> busy.get(message),
            () -> busy.get(message + "/deliveries"),
            () -> busy.post(message + ":cancel", ""),
            () -> busy.get("/live-activity-channels"),
            () -> busy.get(channel),
            () -> busy.call("DELETE", channel, ""),
            () -> busy.post("/live-activity-channels", "{}"));
    List<Future<Answer>> calls = new ArrayList<>();

    try (Connection connection = dispatcher.connection();
        var callers = Executors.newFixedThreadPool(MANY * kinds.size())) {
      JdbcTemplate lock = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      lock.execute(
          "LOCK TABLES uplinks WRITE, device_tags WRITE, deliveries WRITE, messages WRITE,"
              + " live_activity_channels WRITE");
      try {
        for (int i = 0; i < MANY; i++) {
          kinds.forEach(kind -> calls.add(callers.submit(kind)));
        }
        Eventually.within(
            Duration.ofSeconds(20),
            () ->
                assertThat(waiting(lock) >= 10 || calls.stream().anyMatch(Future::isDone))
                    .isTrue());

        Answer sent = other.post("/messages", HELLO);

        assertThat(sent.status()).as(sent.toString()).isEqualTo(202);
      } finally {
        lock.execute("UNLOCK TABLES");
      }
      for (Future<Answer> call : calls) {
        Answer answer = call.get(30, TimeUnit.SECONDS);
        if (answer.status() == 503) {
          assertThat(answer.header("Retry-After")).as(answer.toString()).isEqualTo("1");
        }
      }
    }
    assertThat(calls)
        .anyMatch(call -> call.resultNow().status() == 200)
        .anyMatch(call -> call.resultNow().toString().contains("\"overloaded\""));
  }

  /// Statements that lock the row of a device, or wait for it.
  private static long changing(JdbcTemplate sql) {
    Long waiting =
        sql.queryForObject(
            "SELECT COUNT(*) FROM information_schema.processlist"
                + " WHERE info LIKE '%FROM devices%FOR UPDATE%' AND id <> CONNECTION_ID()",
            Long.class);
    return waiting == null ? 0 : waiting;
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
