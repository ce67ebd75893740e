package io.pushplanet.dashboard;

import java.util.concurrent.atomic.AtomicLong;
import org.springframework.jdbc.core.JdbcTemplate;

/// Makes the database refuse some changes, by a trigger, until this is closed.
public final class Refusing implements AutoCloseable {
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
    String trigger = "refusing_" + COUNT.incrementAndGet();
    sql.execute(
        """
        CREATE TRIGGER %s BEFORE %s FOR EACH ROW
        IF %s THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused by a test'; END IF
        """
            .formatted(trigger, deed, which));
    return new Refusing(sql, trigger);
  }

  @Override
  public void close() {
    sql.execute("DROP TRIGGER " + trigger);
  }
}
