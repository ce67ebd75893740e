package io.pushplanet.gateway.statistics;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Gives each UTC day of the growing tables a partition of its own, some days ahead, and drops
/// those past the retention: that costs the same however many rows a day has. MySQL says which day
/// it is, so that a worker whose clock is ahead drops nothing too early. One worker at a time; safe
/// to repeat.
///
/// A change of partitions needs the table for itself for a moment. Behind a transaction that has
/// read the table (a backup's long SELECT) it would wait, and all later statements would wait
/// behind it. So it gives up after two seconds and leaves that table to the next round.
public final class DayPartitions {
  static final List<String> TABLES = List.of("messages", "deliveries", "statistics_minutes");

  private static final Logger LOG = LoggerFactory.getLogger(DayPartitions.class);
  private static final int DAYS_AHEAD = 3;
  private static final int PATIENCE_SECONDS = 2;

  /// ER_LOCK_WAIT_TIMEOUT
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final DateTimeFormatter NAME = DateTimeFormatter.ofPattern("'p'yyyyMMdd");

  private final Leader leader;
  private final int retentionDays;

  /// @param retentionDays how many whole days before today are kept, at least 1
  public DayPartitions(DataSource database, int retentionDays) {
    if (retentionDays < 1) {
      throw new IllegalArgumentException("at least 1 day is kept");
    }
    this.leader = new Leader(database, "day-partitions");
    this.retentionDays = retentionDays;
  }

  /// Makes the coming days' partitions and drops the old ones.
  ///
  /// @return what was done, for the log, such as `messages +p20261122`
  /// @throws org.springframework.dao.DataAccessException when the database is away
  public List<String> maintain() {
    return leader.lead(List.of(), this::maintain);
  }

  private List<String> maintain(Connection connection) throws SQLException {
    LocalDate today = today(connection);
    List<String> done = new ArrayList<>();
    execute(connection, "SET SESSION lock_wait_timeout = " + PATIENCE_SECONDS);
    try {
      for (String table : TABLES) {
        maintain(connection, table, today, done);
      }
    } finally {
      // The connection returns to the pool.
      execute(connection, "SET SESSION lock_wait_timeout = DEFAULT");
    }
    return done;
  }

  private void maintain(Connection connection, String table, LocalDate today, List<String> done)
      throws SQLException {
    try {
      addAhead(connection, table, today, done);
      dropOld(connection, table, today.minusDays(retentionDays), done);
    } catch (SQLException e) {
      if (e.getErrorCode() != LOCK_WAIT_TIMEOUT) {
        throw e;
      }
      LOG.warn(
          "event=day_partitions_refused table={} action=\"a transaction that has read the table holds it, a backup maybe: the next round tries again; if this comes all day, end that transaction\"",
          table);
    }
  }

  private static LocalDate today(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT CAST(UTC_DATE() AS CHAR)")) {
      row.next();
      return LocalDate.parse(row.getString(1));
    }
  }

  private static void addAhead(
      Connection connection, String table, LocalDate today, List<String> done) throws SQLException {
    TreeSet<LocalDate> present = days(connection, table);
    LocalDate from = present.isEmpty() ? today : present.getLast().plusDays(1);
    List<String> parts = new ArrayList<>();
    List<String> added = new ArrayList<>();
    for (LocalDate day = from; !day.isAfter(today.plusDays(DAYS_AHEAD)); day = day.plusDays(1)) {
      parts.add(
          "PARTITION %s VALUES LESS THAN ('%s')".formatted(NAME.format(day), day.plusDays(1)));
      added.add(table + " +" + NAME.format(day));
    }
    if (!parts.isEmpty()) {
      execute(
          connection,
          "ALTER TABLE %s REORGANIZE PARTITION p_later INTO (%s, PARTITION p_later VALUES LESS THAN (MAXVALUE))"
              .formatted(table, String.join(", ", parts)));
      done.addAll(added);
    }
  }

  private static void dropOld(
      Connection connection, String table, LocalDate oldestKept, List<String> done)
      throws SQLException {
    for (LocalDate day : days(connection, table).headSet(oldestKept)) {
      execute(connection, "ALTER TABLE %s DROP PARTITION %s".formatted(table, NAME.format(day)));
      done.add(table + " -" + NAME.format(day));
    }
  }

  private static TreeSet<LocalDate> days(Connection connection, String table) throws SQLException {
    TreeSet<LocalDate> days = new TreeSet<>();
    try (PreparedStatement select =
        connection.prepareStatement(
            "SELECT partition_name FROM information_schema.partitions WHERE table_schema = DATABASE() AND table_name = ?")) {
      select.setString(1, table);
      try (ResultSet row = select.executeQuery()) {
        while (row.next()) {
          String name = row.getString(1);
          if (name != null && name.matches("p\\d{8}")) {
            days.add(LocalDate.parse(name, NAME));
          }
        }
      }
    }
    return days;
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
