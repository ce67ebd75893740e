package io.pushplanet.dashboard;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.jdbc.core.JdbcTemplate;

/// Makes the database refuse some changes, by a trigger, until this is closed.
public final class Refusing implements AutoCloseable {
  /// What SIGNAL gives by itself (https://dev.mysql.com/doc/refman/8.4/en/signal.html).
  private static final int REFUSED_BY_A_TRIGGER = 1644;

  private static final AtomicLong COUNT = new AtomicLong();

  private final JdbcTemplate sql;
  private final String trigger;

  private Refusing(JdbcTemplate sql, String trigger) {
    this.sql = sql;
    this.trigger = trigger;
  }

  /// @param deed `INSERT ON audit`
  /// @param which `NEW.operator = 'x'`
  public static Refusing of(JdbcTemplate sql, String deed, String which) {
    return of(sql, deed, which, REFUSED_BY_A_TRIGGER);
  }

  /// @param error the number of the error with which MySQL refuses
  static Refusing of(JdbcTemplate sql, String deed, String which, int error) {
    String trigger = "refusing_" + COUNT.incrementAndGet();
    sql.execute(
        """
        CREATE TRIGGER %s BEFORE %s FOR EACH ROW
        IF %s THEN
          SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = %d, MESSAGE_TEXT = 'refused by a test';
        END IF
        """
            .formatted(trigger, deed, which, error));
    return new Refusing(sql, trigger);
  }

  @Override
  public void close() {
    sql.execute("DROP TRIGGER " + trigger);
  }
}
