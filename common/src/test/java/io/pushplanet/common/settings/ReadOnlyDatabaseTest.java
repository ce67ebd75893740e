package io.pushplanet.common.settings;

import static com.zaxxer.hikari.SQLExceptionOverride.Override.CONTINUE_EVICT;
import static com.zaxxer.hikari.SQLExceptionOverride.Override.MUST_EVICT;
import static org.assertj.core.api.Assertions.assertThat;

import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ReadOnlyDatabaseTest {
  private final ReadOnlyDatabase database = new ReadOnlyDatabase();

  @ParameterizedTest
  @ValueSource(ints = {1290, 1792, 1836})
  void a_connection_to_a_replica_is_given_up(int error) {
    SQLException refusal = new SQLException("read only", "HY000", error);

    assertThat(ReadOnlyDatabase.isToldBy(refusal)).isTrue();
    assertThat(database.adjudicate(refusal)).isEqualTo(MUST_EVICT);
  }

  @ParameterizedTest
  @ValueSource(ints = {1021, 1114})
  void another_connection_would_find_the_same_disk_full(int error) {
    SQLException refusal = new SQLException("full", "HY000", error);

    assertThat(ReadOnlyDatabase.isToldBy(refusal)).isTrue();
    assertThat(database.adjudicate(refusal)).isEqualTo(CONTINUE_EVICT);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1062, 1146, 1366})
  void an_error_of_the_statement_itself_is_neither(int error) {
    SQLException refusal = new SQLException("wrong", "HY000", error);

    assertThat(ReadOnlyDatabase.isToldBy(refusal)).isFalse();
    assertThat(database.adjudicate(refusal)).isEqualTo(CONTINUE_EVICT);
  }
}
