package io.pushplanet.migrations;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/// Connections whose statements wait for a table without blocking other sessions for long.
///
/// A change of a table needs exclusive access for a moment. After a transaction that has read the
/// table (such as a backup's long SELECT) it waits, with MySQL's defaults for a year, and all later
/// readers and writers wait behind it. So it gives up after two seconds, lets the others pass, and
/// tries again, for some ten minutes. The repetition is per statement, so that a migration of
/// several statements does not break off between them.
final class PatientStatements implements InvocationHandler {
  /// For each session.
  static final String SESSION = "SET SESSION lock_wait_timeout = 2";

  static final int MOST_TRIES = 100;

  private static final Duration PAUSE = Duration.ofSeconds(5);

  /// ER_LOCK_WAIT_TIMEOUT
  private static final int LOCK_WAIT_TIMEOUT = 1205;

  private static final int LONGEST_TEXT = 120;
  private static final Pattern COMMENT = Pattern.compile("(?m)^--.*\n");

  private final Object real;
  private final Duration pause;
  private final Consumer<String> progress;

  private PatientStatements(Object real, Duration pause, Consumer<String> progress) {
    this.real = real;
    this.pause = pause;
    this.progress = progress;
  }

  /// @param progress receives the waiting statement, and how to find the transaction that blocks it
  static DataSource of(DataSource source, Consumer<String> progress) {
    return of(source, PAUSE, progress);
  }

  static DataSource of(DataSource source, Duration pause, Consumer<String> progress) {
    return of(DataSource.class, source, pause, progress);
  }

  private static <T> T of(Class<T> type, T real, Duration pause, Consumer<String> progress) {
    return type.cast(
        Proxy.newProxyInstance(
            PatientStatements.class.getClassLoader(),
            new Class<?>[] {type},
            new PatientStatements(real, pause, progress)));
  }

  @Override
  public @Nullable Object invoke(Object proxy, Method method, Object @Nullable [] arguments)
      throws Throwable {
    Object result = patiently(method, arguments);
    return switch (result) {
      case Connection connection -> of(Connection.class, connection, pause, progress);
      case PreparedStatement statement -> of(PreparedStatement.class, statement, pause, progress);
      case Statement statement -> of(Statement.class, statement, pause, progress);
      case null, default -> result;
    };
  }

  private @Nullable Object patiently(Method method, Object @Nullable [] arguments)
      throws Throwable {
    for (int tries = 1; ; tries++) {
      try {
        return method.invoke(real, arguments);
      } catch (InvocationTargetException e) {
        if (tries == MOST_TRIES
            || !(e.getCause() instanceof SQLException refused)
            || refused.getErrorCode() != LOCK_WAIT_TIMEOUT) {
          throw e.getCause();
        }
        progress.accept(waiting(arguments, tries));
        long millis = pause.toMillis();
        Thread.sleep(millis / 2 + ThreadLocalRandom.current().nextLong(millis));
      }
    }
  }

  private static String waiting(Object @Nullable [] arguments, int tries) {
    String statement =
        arguments == null ? "" : COMMENT.matcher(String.valueOf(arguments[0])).replaceAll("");
    return ("event=migration_waits try=%d/%d statement=\"%s\" action=\"a transaction that has read the table holds it, a backup maybe:"
            + " wait for its end or end it; the oldest are first in SELECT trx_mysql_thread_id, trx_started, trx_query"
            + " FROM information_schema.innodb_trx ORDER BY trx_started\"")
        .formatted(
            tries, MOST_TRIES, statement.substring(0, Math.min(LONGEST_TEXT, statement.length())));
  }
}
