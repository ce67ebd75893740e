package io.pushplanet.migrations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;

class PatientStatementsTest {
  private static final int LOCK_WAIT_TIMEOUT = 1205;
  private static final int DUPLICATE_COLUMN = 1060;

  private final List<String> executed = new ArrayList<>();
  private final List<String> progress = new ArrayList<>();

  @Test
  void a_statement_that_waits_for_its_table_is_repeated_and_reported() throws Exception {
    statement(2, LOCK_WAIT_TIMEOUT).execute("-- Why.\n-- And how.\nALTER TABLE messages ADD x INT");

    assertThat(executed).hasSize(3);
    assertThat(progress)
        .hasSize(2)
        .allSatisfy(line ->
            assertThat(line)
                .contains("statement=\"ALTER TABLE messages ADD x INT\"")
                .contains("information_schema.innodb_trx"));
    assertThat(progress.getLast()).contains("try=2/100");
  }

  @Test
  void a_statement_that_never_gets_its_table_fails_in_the_end() throws Exception {
    Statement statement = statement(Integer.MAX_VALUE, LOCK_WAIT_TIMEOUT);

    assertThatThrownBy(() -> statement.execute("ALTER TABLE messages ADD x INT"))
        .isInstanceOf(SQLException.class);
    assertThat(executed).hasSize(PatientStatements.MOST_TRIES);
  }

  @Test
  void other_errors_are_not_repeated() throws Exception {
    Statement statement = statement(Integer.MAX_VALUE, DUPLICATE_COLUMN);

    assertThatThrownBy(() -> statement.execute("ALTER TABLE messages ADD x INT"))
        .isInstanceOf(SQLException.class);
    assertThat(executed).hasSize(1);
    assertThat(progress).isEmpty();
  }

  /// Fails this number of times.
  private Statement statement(int times, int error) throws SQLException {
    Statement statement =
        proxy(
            Statement.class,
            text -> {
              executed.add(text);
              if (executed.size() <= times) {
                throw new SQLException("refused", "HY000", error);
              }
              return true;
            });
    Connection connection = proxy(Connection.class, _ -> statement);
    DataSource source = proxy(DataSource.class, _ -> connection);
    return PatientStatements.of(source, Duration.ofMillis(2), progress::add)
        .getConnection()
        .createStatement();
  }

  private interface Answer {
    Object to(String text) throws SQLException;
  }

  private static <T> T proxy(Class<T> type, Answer answer) {
    return type.cast(
        Proxy.newProxyInstance(
            PatientStatementsTest.class.getClassLoader(),
            new Class<?>[] {type},
            (_, _, arguments) -> answer.to(arguments == null ? "" : (String) arguments[0])));
  }
}
