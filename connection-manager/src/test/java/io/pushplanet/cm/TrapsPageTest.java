package io.pushplanet.cm;

import io.pushplanet.common.testing.TrapsPage;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/// Every test that TRAPS.md names exists.
class TrapsPageTest {
  @Test
  void each_report_of_the_table_has_a_test_of_its_name() throws IOException {
    TrapsPage.mustNameTests();
  }
}
