package io.pushplanet.dashboard;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/// Takes the place of the gateway worker, which tries credentials at providers. It gives the
/// verdict that a test sets for an app, or for one of its environments, and otherwise says that the
/// provider accepts the credential. About a new credential of a provider that could not be asked it
/// asks again in an hour.
final class FakeWorker {
  /// @param verdict in the words of the worker
  record Answer(String verdict, String reason) {
    /// It gives no answer.
    static final Answer NONE = new Answer("", "");
  }

  private static final Answer TAKEN = new Answer("accepted", "400 BadDeviceToken");

  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final CountDownLatch stopped = new CountDownLatch(1);

  FakeWorker(JdbcTemplate sql) {
    Thread.ofVirtual().name("fake-worker").start(() -> work(sql));
  }

  void say(String app, Answer answer) {
    answers.put(app, answer);
  }

  void say(String app, String environment, Answer answer) {
    answers.put(app + "/" + environment, answer);
  }

  void stop() {
    stopped.countDown();
  }

  private void work(JdbcTemplate sql) {
    try {
      while (!stopped.await(50, TimeUnit.MILLISECONDS)) {
        try {
          sql.queryForList(
                  "SELECT id, app_id, environment FROM credentials WHERE probe_at <= NOW(3)")
              .forEach(row -> answer(sql, row));
        } catch (DataAccessException e) {
          // Some tests take the database away.
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void answer(JdbcTemplate sql, Map<String, Object> row) {
    String app = String.valueOf(row.get("app_id"));
    Answer answer =
        answers.getOrDefault(app + "/" + row.get("environment"), answers.getOrDefault(app, TAKEN));
    if (answer != Answer.NONE) {
      sql.update(
          "UPDATE credentials SET probe_verdict = ?, probe_reason = ?, probed_at = NOW(3),"
              + " probe_at = IF(? = 'unreachable' AND state = 'candidate', NOW(3) + INTERVAL 1 HOUR, NULL) WHERE id = ?",
          answer.verdict(),
          answer.reason(),
          answer.verdict(),
          row.get("id"));
    }
  }
}
