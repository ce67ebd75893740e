package io.pushplanet.cm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The program that a benchmark fills a table with a million sessions with must keep up with the node.
class FullTableTest {
  @Test
  void a_table_is_filled_with_authenticated_and_subscribed_sessions() throws Exception {
    var filled = FullTable.fill(2_500);

    assertThat(filled.sessions()).isEqualTo(2_500);
  }
}
