package io.pushplanet.cm;

import io.pushplanet.common.testing.MetersTable;
import org.junit.jupiter.api.Test;

class MetersIT {
  @Test
  void a_node_shows_only_meters_that_the_page_names() {
    try (TestNode node = TestNode.start()) {
      MetersTable.mustName(node.http(), "common", "connection-manager");
    }
  }
}
