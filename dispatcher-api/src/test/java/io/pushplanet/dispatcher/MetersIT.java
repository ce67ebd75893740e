package io.pushplanet.dispatcher;

import io.pushplanet.common.testing.MetersTable;
import org.junit.jupiter.api.Test;

class MetersIT {
  private final RunningDispatcher dispatcher = RunningDispatcher.shared();

  @Test
  void a_dispatcher_shows_only_meters_that_the_page_names() {
    int port =
        dispatcher
            .context
            .getEnvironment()
            .getRequiredProperty("local.management.port", Integer.class);

    MetersTable.mustName(port, "common", "dispatcher-api");
  }
}
