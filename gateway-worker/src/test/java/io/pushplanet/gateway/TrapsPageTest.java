package io.pushplanet.gateway;

import io.pushplanet.common.testing.TrapsPage;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/// TRAPS.md names only tests that exist.
class TrapsPageTest {
  @Test
  void each_report_of_the_table_has_a_test_of_its_name() throws IOException {
    TrapsPage.mustNameTests();
  }
}
