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

/// Gives each UTC day of the tables that grow a partition of its own, some days ahead, and drops those past the retention:
/// that costs the same however many rows a day has. Which day it is says MySQL: a worker whose clock is ahead drops nothing too early. One process at a time (MySQL's `GET_LOCK`); safe to repeat.
public final class DayPartitions {
  static final List<String> TABLES = List.of("messages", "deliveries", "statistics_minutes");

  private static final int DAYS_AHEAD = 3;
  private static final String LOCK = "pushplanet.day-partitions";
  private static final DateTimeFormatter NAME = DateTimeFormatter.ofPattern("'p'yyyyMMdd");

  private final DataSource database;
  private final int retentionDays;

  /// @param retentionDays how many whole days before today are kept, at least 1
  public DayPartitions(DataSource database, int retentionDays) {
    if (retentionDays < 1) {
      throw new IllegalArgumentException("at least 1 day is kept");
    }
    this.database = database;
    this.retentionDays = retentionDays;
  }

  /// Makes the coming days' partitions and drops the old ones.
  ///
  /// @return what was done, for the log, such as `messages +p20261122`
  public List<String> maintain() throws SQLException {
    try (Connection connection = database.getConnection()) {
      if (!lock(connection)) {
        return List.of();
      }
      try {
        LocalDate today = today(connection);
        List<String> done = new ArrayList<>();
        for (String table : TABLES) {
          addAhead(connection, table, today, done);
          dropOld(connection, table, today.minusDays(retentionDays), done);
        }
        return done;
      } finally {
        unlock(connection);
      }
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
    for (LocalDate day = from; !day.isAfter(today.plusDays(DAYS_AHEAD)); day = day.plusDays(1)) {
      parts.add(
          "PARTITION %s VALUES LESS THAN ('%s')".formatted(NAME.format(day), day.plusDays(1)));
      done.add(table + " +" + NAME.format(day));
    }
    if (!parts.isEmpty()) {
      execute(
          connection,
          "ALTER TABLE %s REORGANIZE PARTITION p_later INTO (%s, PARTITION p_later VALUES LESS THAN (MAXVALUE))"
              .formatted(table, String.join(", ", parts)));
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

  private static boolean lock(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT GET_LOCK('" + LOCK + "', 0)")) {
      return row.next() && row.getInt(1) == 1;
    }
  }

  private static void unlock(Connection connection) throws SQLException {
    execute(connection, "DO RELEASE_LOCK('" + LOCK + "')");
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
