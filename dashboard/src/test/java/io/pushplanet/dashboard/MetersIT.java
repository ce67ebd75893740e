package io.pushplanet.dashboard;

import io.pushplanet.common.testing.MetersTable;
import java.net.URI;
import org.junit.jupiter.api.Test;

class MetersIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void a_dashboard_shows_only_meters_that_the_page_names() {
    MetersTable.mustName(URI.create(dashboard.managementAddress()).getPort(), "dashboard");
  }
}
