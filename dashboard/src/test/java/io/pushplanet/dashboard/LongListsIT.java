package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.browser.Chromium;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// More operators, keys and credentials than a page shows.
class LongListsIT {
  private static final String APP = "long-lists";
  private static final Pattern LISTED = Pattern.compile(">(listed-\\d{4})<");
  private static final Pattern NEXT = Pattern.compile("href=\"([^\"]+)\">Next<");

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @AfterEach
  void nothingStays() {
    sql("DELETE FROM operators WHERE name LIKE 'listed-%'");
    sql("DELETE FROM apps WHERE id = ?", APP);
    sql("DELETE FROM api_keys WHERE app_id = ?", APP);
    sql("DELETE FROM credentials WHERE app_id = ?", APP);
  }

  @Test
  void every_operator_is_on_one_of_the_pages() throws Exception {
    List<Object[]> rows = IntStream.range(0, 1_005).mapToObj(i -> new Object[] {name(i)}).toList();
    dashboard
        .sql()
        .batchUpdate(
            "INSERT INTO operators (name, password, role, created_at) VALUES (?, 'unused', 'viewer', NOW(3))",
            rows);
    HttpOperator admin = admin();

    List<String> seen = new ArrayList<>();
    String page = "/operators";
    while (!page.isEmpty()) {
      String body = admin.get(page).body();
      LISTED.matcher(body).results().forEach(found -> seen.add(found.group(1)));
      var next = NEXT.matcher(body);
      page = next.find() ? next.group(1) : "";
    }

    assertThat(seen)
        .containsExactlyElementsOf(IntStream.range(0, 1_005).mapToObj(LongListsIT::name).toList());
    fitsEachWidth("operators", "/operators");
  }

  @Test
  void a_page_of_keys_says_that_it_does_not_show_all() throws Exception {
    new Rows(dashboard.sql()).app(APP, "Long lists");
    key("live", "NULL", 9);
    for (int i = 0; i < 49; i++) {
      key("k" + i, "NOW(3)", 1);
    }
    key("dashboard test push", "NOW(3)", 0);
    HttpOperator admin = admin();
    assertThat(admin.get("/apps/" + APP + "/keys").body()).contains(">live<", ">k48<");
    assertThat(admin.get("/apps/" + APP + "/keys").body()).doesNotContain("the newest, 50 of");

    key("oldest", "NOW(3)", 8);

    assertThat(admin.get("/apps/" + APP + "/keys").body())
        .contains("The live and the newest, 50 of 51", ">live<", ">k48<")
        .doesNotContain(">oldest<");
    fitsEachWidth("keys", "/apps/" + APP + "/keys");
  }

  @Test
  void no_number_of_candidates_hides_the_credential_to_roll_back_to() throws Exception {
    new Rows(dashboard.sql()).app(APP, "Long lists");
    credentials(30, "retired");
    credentials(1, "overlapping");
    credentials(1, "active");
    credentials(18, "candidate");
    HttpOperator admin = admin();
    String page = "/apps/" + APP + "/credentials";
    assertThat(admin.get(page).body())
        .contains("Former credentials (<span>30</span>)")
        .doesNotContain("The first 50 of");

    credentials(10, "candidate");
    assertThat(admin.get(page).body())
        .contains("Former credentials (<span>30</span>)")
        .contains("The first 50 of 60 credentials");
    fitsEachWidth("credentials", page);

    credentials(30, "candidate");
    assertThat(admin.get(page).body())
        .contains("Roll back to this one")
        .contains("The first 50 of 90 credentials");
  }

  private void fitsEachWidth(String name, String page) {
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      for (int width : new int[] {1_280, 1_024, 390}) {
        chromium.size(width, 900).go(page);
        PageWidth.holds(chromium, width + " px of " + page);
        chromium.picture("long-" + name + "-" + width);
      }
    }
  }

  private void key(String name, String revokedAt, int daysOld) {
    sql(
        "INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at, revoked_at)"
            + " VALUES (LEFT(SHA2(?, 256), 20), ?, ?, '', 'send', NOW(3) - INTERVAL ? DAY, "
            + revokedAt
            + ")",
        name,
        APP,
        name,
        daysOld);
  }

  private void credentials(int number, String state) {
    dashboard
        .sql()
        .batchUpdate(
            "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by)"
                + " VALUES (?, 'fcm', 'production', 'service_account', ?, '{}', '', NOW(3), 'admin')",
            Collections.nCopies(number, new Object[] {APP, state}));
  }

  private HttpOperator admin() throws Exception {
    return HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
  }

  private static String name(int number) {
    return "listed-%04d".formatted(number);
  }

  private void sql(String statement, Object... values) {
    dashboard.sql().update(statement, values);
  }
}
