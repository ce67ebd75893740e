package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The pages of messages and of the devices they were for.
class MessagesIT {
  private static final String ALL = "{\"kind\":\"all\"}";

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final Rows rows = new Rows(dashboard.sql());

  @BeforeEach
  void app() {
    rows.app("told", "Told");
  }

  @Test
  void every_recipient_is_in_one_of_the_figures() throws Exception {
    String ended = rows.message("told", "Late", "Late", ALL, 9);
    dashboard
        .sql()
        .update(
            "UPDATE messages SET delivered = 2, failed = 0, expired = 3, cancelled = 4 WHERE id = ?",
            ended);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(admin.get("/messages?app=told").body())
        .contains("3 expired")
        .contains("4 cancelled")
        .doesNotContain("0 failed");
    assertThat(admin.get("/messages/" + ended).body())
        .contains("<div class=\"label\">Cancelled</div><div class=\"value\">4</div>");
  }
}
