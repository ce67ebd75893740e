package io.pushplanet.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.SQLDataException;
import java.sql.SQLException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BulkInsertTest {
  private static final DateTimeFormatter JDKS =
      DateTimeFormatter.ofPattern("uuuu-MM-dd HH:mm:ss.SSS", Locale.ROOT).withZone(ZoneOffset.UTC);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0000-01-01T00:00:00Z",
        "0007-02-03T04:05:06.000007Z",
        "1969-12-31T23:59:59.999999999Z",
        "1970-01-01T00:00:00Z",
        "2024-02-29T12:34:56.789Z",
        "2026-11-24T10:20:30.100020Z",
        "9999-12-31T23:59:59.999999999Z"
      })
  void a_time_is_written_in_whole_milliseconds_as_the_jdk_writes_it(Instant time)
      throws SQLException {
    assertThat(BulkInsert.text(time)).isEqualTo(JDKS.format(time));
  }

  @Test
  void any_time_of_four_digits_is_written_as_the_jdk_writes_it() throws SQLException {
    long first = Instant.parse("0000-01-01T00:00:00Z").getEpochSecond();
    long end = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond();
    SplittableRandom dice = new SplittableRandom(23);
    for (int run = 0; run < 10_000; run++) {
      Instant time = Instant.ofEpochSecond(dice.nextLong(first, end), dice.nextLong(1_000_000_000));
      assertThat(BulkInsert.text(time)).isEqualTo(JDKS.format(time));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"-0001-12-31T23:59:59Z", "+10000-01-01T00:00:00Z"})
  void a_time_that_no_column_holds_is_refused_as_the_database_would(Instant time) {
    assertThatThrownBy(() -> BulkInsert.text(time))
        .isInstanceOf(SQLDataException.class)
        .hasMessageContaining(time.toString());
  }
}
