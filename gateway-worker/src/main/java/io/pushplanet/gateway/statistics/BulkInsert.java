package io.pushplanet.gateway.statistics;

import com.mysql.cj.jdbc.JdbcConnection;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLDataException;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An INSERT of any number of rows, [#ROWS] in a statement. Full statements are prepared on the
/// server, which then reads values instead of SQL. The remaining rows are sent as text, because
/// preparing costs a round trip. For rows of 1 KB that takes a quarter of the client's work and
/// some 15 % less of the server's than the driver's `addBatch`.
///
/// @param head the statement up to VALUES
/// @param tail the statement behind the rows
record BulkInsert(String head, int columns, String tail) {
  private static final int ROWS = 50;

  /// A server takes packets of 16 MB or more, but a single row's list of devices may have 1 MB.
  private static final int MAX_CHARS = 1_000_000;

  /// @param rows of values in the order of the columns: text, numbers, bytes, an [Instant] or a
  ///     [LocalDate]
  void write(Connection connection, List<@Nullable Object[]> rows) throws SQLException {
    @Nullable PreparedStatement full = null;
    try {
      for (int from = 0, to; from < rows.size(); from = to) {
        to = end(rows, from);
        if (to - from == ROWS) {
          if (full == null) {
            full = connection.unwrap(JdbcConnection.class).serverPrepareStatement(sql(ROWS));
          }
          write(full, rows.subList(from, to));
        } else {
          try (PreparedStatement rest = connection.prepareStatement(sql(to - from))) {
            write(rest, rows.subList(from, to));
          }
        }
      }
    } finally {
      if (full != null) {
        full.close();
      }
    }
  }

  /// @return the first row that does not fit into a statement any more
  private static int end(List<@Nullable Object[]> rows, int from) {
    int to = from;
    int chars = 0;
    while (to < rows.size() && to - from < ROWS && chars < MAX_CHARS) {
      for (Object value : rows.get(to)) {
        chars += value instanceof String text ? text.length() : 0;
      }
      to++;
    }
    return to;
  }

  private String sql(int rows) {
    String row = "(" + String.join(", ", Collections.nCopies(columns, "?")) + ")";
    return head + " VALUES " + String.join(", ", Collections.nCopies(rows, row)) + " " + tail;
  }

  private static void write(PreparedStatement statement, List<@Nullable Object[]> rows)
      throws SQLException {
    int at = 1;
    for (Object[] row : rows) {
      for (Object value : row) {
        set(statement, at++, value);
      }
    }
    statement.executeUpdate();
  }

  /// A null gets a type, because the driver would look for the parameter's otherwise. Times are
  /// text, because the driver makes new formats for each `java.sql.Timestamp`.
  private static void set(PreparedStatement statement, int at, @Nullable Object value)
      throws SQLException {
    switch (value) {
      case null -> statement.setNull(at, Types.VARCHAR);
      case String text -> statement.setString(at, text);
      case Instant time -> statement.setString(at, text(time));
      case Long number -> statement.setLong(at, number);
      case Integer number -> statement.setInt(at, number);
      case LocalDate day -> statement.setString(at, day.toString());
      case Object other -> statement.setObject(at, other);
    }
  }

  /// Written by hand: a formatter takes ten times as long, and a message has five times. Parts of a
  /// millisecond are cut off, because MySQL would round them: the row would have another minute
  /// than the one that its delivery was counted in.
  ///
  /// @return `uuuu-MM-dd HH:mm:ss.SSS` in UTC, which is the connections' time zone
  /// @throws SQLDataException when the year is not from 0 to 9999, which a DATETIME cannot hold
  static String text(Instant time) throws SQLDataException {
    LocalDateTime utc =
        LocalDateTime.ofEpochSecond(time.getEpochSecond(), time.getNano(), ZoneOffset.UTC);
    if (utc.getYear() < 0 || utc.getYear() > 9999) {
      throw new SQLDataException("no DATETIME has the year of " + time, "22007");
    }
    byte[] text = "0000-00-00 00:00:00.000".getBytes(StandardCharsets.ISO_8859_1);
    putDigits(text, 4, utc.getYear());
    putDigits(text, 7, utc.getMonthValue());
    putDigits(text, 10, utc.getDayOfMonth());
    putDigits(text, 13, utc.getHour());
    putDigits(text, 16, utc.getMinute());
    putDigits(text, 19, utc.getSecond());
    putDigits(text, 23, utc.getNano() / 1_000_000);
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  /// @param end behind the last digit; the text in front of the first digit stays
  private static void putDigits(byte[] text, int end, int number) {
    int at = end;
    for (int rest = number; rest > 0; rest /= 10) {
      text[--at] = (byte) ('0' + rest % 10);
    }
  }
}
