package io.pushplanet.quickstart.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ChangeFeedIT {
  private static final AppId SHOP = new AppId("shop");
  private static final Duration PATIENCE = Duration.ofSeconds(90);

  private final LocalServices services = LocalServices.forTests();
  private final HikariDataSource database = database();
  private final List<String> heard = new CopyOnWriteArrayList<>();
  private final AtomicInteger resets = new AtomicInteger();

  @AfterEach
  void close() {
    database.close();
  }

  @Test
  void only_a_later_commit_is_reported_and_once() throws Exception {
    record("before");
    try (ChangeFeed feed = follow()) {
      assertThat(feed).isNotNull();
      record("after");
      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("after"));
      record("later");

      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("after", "later"));
    }
  }

  @Test
  void a_change_that_commits_after_a_younger_one_is_not_missed() throws Exception {
    try (ChangeFeed feed = follow();
        Connection slow = database.getConnection()) {
      assertThat(feed).isNotNull();
      slow.setAutoCommit(false);
      ChangeFeed.record(slow, Clock.systemUTC(), Change.Kind.API_KEY, SHOP, "slow");
      record("quick");
      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("quick"));

      slow.commit();

      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("quick", "slow"));
    }
  }

  @Test
  void a_change_is_reported_again_when_its_listener_throws() throws Exception {
    try (ChangeFeed feed =
        ChangeFeed.follow(
            database,
            change -> {
              boolean second = heard.contains("second");
              heard.add(change.subject());
              if (!second && change.subject().equals("first")) {
                throw new NoClassDefFoundError("io/pushplanet/Gone");
              }
            },
            resets::incrementAndGet)) {
      assertThat(feed).isNotNull();
      record("first");
      Eventually.within(PATIENCE, () -> assertThat(heard).contains("first"));
      record("second");

      Eventually.within(
          PATIENCE, () -> assertThat(heard).containsSubsequence("first", "second", "first"));
      record("third");
      Eventually.within(PATIENCE, () -> assertThat(heard).endsWith("second", "first", "third"));
    }
  }

  @Test
  void a_change_of_a_kind_of_a_newer_version_is_skipped() throws Exception {
    recordOfANewerVersion();
    try (ChangeFeed feed = follow()) {
      assertThat(feed).isNotNull();
      record("before it");
      recordOfANewerVersion();
      record("after it");

      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("before it", "after it"));
    }
  }

  @Test
  void a_feed_goes_on_after_the_database_was_away() throws Exception {
    try (ChangeFeed feed = follow()) {
      assertThat(feed).isNotNull();
      services.kill9(Service.MYSQL);
      services.restart(Service.MYSQL);
      Eventually.within(PATIENCE, () -> record("after the restart"));

      Eventually.within(PATIENCE, () -> assertThat(heard).contains("after the restart"));
    }
  }

  @Test
  void after_the_loss_of_the_newest_change_all_caches_are_emptied_and_its_id_counts_again()
      throws Exception {
    record("kept");
    try (ChangeFeed feed = follow()) {
      assertThat(feed).isNotNull();
      record("lost");
      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("lost"));
      assertThat(resets).hasValue(1);
      long id = newestId();

      execute("DELETE FROM changes WHERE id = " + id);
      Eventually.within(PATIENCE, () -> assertThat(resets).hasValue(2));
      execute(insertAt(id, "instead"));

      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("lost", "instead"));
    }
  }

  @Test
  void a_loss_is_noticed_although_its_ids_were_assigned_again_before() throws Exception {
    try (ChangeFeed feed = follow();
        Connection failover = database.getConnection();
        Statement statement = failover.createStatement()) {
      assertThat(feed).isNotNull();
      record("lost");
      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("lost"));
      long id = newestId();
      failover.setAutoCommit(false);
      statement.executeUpdate("DELETE FROM changes WHERE id = " + id);
      statement.executeUpdate(insertAt(id, "instead"));
      failover.commit();

      Eventually.within(PATIENCE, () -> assertThat(resets).hasValue(2));
      record("after it");
      Eventually.within(PATIENCE, () -> assertThat(heard).containsExactly("lost", "after it"));
    }
  }

  private ChangeFeed follow() throws SQLException {
    return ChangeFeed.follow(
        database, change -> heard.add(change.subject()), resets::incrementAndGet);
  }

  private static String insertAt(long id, String subject) {
    return "INSERT INTO changes (id, kind, app_id, subject, at) VALUES (%d, 'api_key', 'shop', '%s', NOW(3))"
        .formatted(id, subject);
  }

  private long newestId() throws SQLException {
    try (Connection connection = database.getConnection();
        Statement select = connection.createStatement();
        ResultSet row = select.executeQuery("SELECT MAX(id) FROM changes")) {
      row.next();
      return row.getLong(1);
    }
  }

  private void record(String subject) throws Exception {
    try (Connection connection = database.getConnection()) {
      ChangeFeed.record(connection, Clock.systemUTC(), Change.Kind.API_KEY, SHOP, subject);
    }
  }

  private void recordOfANewerVersion() throws SQLException {
    execute(
        "INSERT INTO changes (kind, app_id, subject, at)"
            + " VALUES ('from_the_future', 'shop', 'unknown', NOW(3))");
  }

  private void execute(String sql) throws SQLException {
    try (Connection connection = database.getConnection();
        Statement statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  private HikariDataSource database() {
    HikariDataSource source = new HikariDataSource();
    source.setJdbcUrl(services.mysql().jdbcUrl());
    source.setUsername(services.mysql().user());
    source.setPassword(services.mysql().password());
    source.setMaximumPoolSize(4);
    source.setConnectionTimeout(20_000);
    return source;
  }
}
