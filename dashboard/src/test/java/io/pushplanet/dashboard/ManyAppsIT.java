package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.app.AppChoice;
import io.pushplanet.dashboard.browser.Chromium;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// An installation with more apps than a list can show.
class ManyAppsIT {
  private static final int MANY = 1_005;
  private static final String LAST = "many-1004";
  private static final Pattern LISTED = Pattern.compile(">(many-\\d{4})</a>");
  private static final Pattern NEXT = Pattern.compile("href=\"([^\"]+)\">Next<");

  private final RunningDashboard dashboard = RunningDashboard.shared();
  private final Rows rows = new Rows(dashboard.sql());

  @AfterEach
  void nothingStays() {
    for (String table : List.of("apps", "messages", "devices", "device_topics", "device_tags")) {
      String app = table.equals("apps") ? "id" : "app_id";
      dashboard.sql().update("DELETE FROM " + table + " WHERE " + app + " LIKE 'many-%'");
    }
  }

  @Test
  void every_app_is_on_one_of_the_pages() throws Exception {
    apps(MANY);
    HttpOperator admin = admin();

    List<String> seen = new ArrayList<>();
    String page = "/apps?find=many-";
    while (!page.isEmpty()) {
      String body = admin.get(page).body();
      LISTED.matcher(body).results().forEach(found -> seen.add(found.group(1)));
      var next = NEXT.matcher(body);
      page = next.find() ? next.group(1).replace("&amp;", "&") : "";
    }

    assertThat(seen)
        .containsExactlyElementsOf(IntStream.range(0, MANY).mapToObj(ManyAppsIT::id).toList());
    assertThat(admin.get("/apps").body()).contains(">Next<");
  }

  @Test
  void an_app_is_found_by_a_part_of_its_id_or_its_name() throws Exception {
    apps(3);
    rows.app("many-named", "Bücher für Kinder");
    HttpOperator admin = admin();

    assertThat(admin.get("/apps?find=+Y-0001+").body())
        .contains(">many-0001<")
        .doesNotContain(">many-0002<");
    assertThat(admin.get("/apps?find=b%C3%BCcher").body())
        .contains(">many-named<")
        .doesNotContain(">many-0001<");
    assertThat(admin.get("/apps?find=nowhere").body()).contains("Nothing found");
  }

  @Test
  void a_chosen_app_stays_chosen_however_many_there_are() {
    apps(MANY);
    rows.device(LAST, "d1", "android", "u-1");
    rows.message(LAST, "To the last", "To the last", "{\"kind\":\"all\"}", 1);
    rows.message(id(0), "To the first", "To the first", "{\"kind\":\"all\"}", 1);
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      chromium.go("/devices?app=" + LAST);
      assertChosen(chromium);
      chromium.type("find", "u-1").press("Look up");
      assertChosen(chromium);
      assertThat(chromium.text()).contains("d1");

      chromium.go("/messages").type("app", LAST).press("Find");
      assertChosen(chromium);
      assertThat(chromium.text()).contains("To the last").doesNotContain("To the first");

      chromium.go("/test-push?app=" + LAST + "&device=d1");
      assertChosen(chromium);
    }
  }

  @Test
  void the_field_for_an_id_fits_each_page_and_says_when_there_is_no_such_app() {
    apps(MANY);
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      for (String page : List.of("apps", "devices", "messages", "test-push")) {
        for (int width : new int[] {1_280, 1_024, 390}) {
          chromium.size(width, 900).go("/" + page + "?app=" + LAST);
          PageWidth.holds(chromium, width + " px of /" + page);
          chromium.picture(page + "-of-many-apps-" + width);
        }
      }
      chromium.size(1_280, 900).go("/devices").type("app", "many-typo").press("Look up");
      assertThat(chromium.text()).contains("There is no app with the id “many-typo”");
      chromium.type("app", LAST).press("Look up");
      assertChosen(chromium);
      assertThat(chromium.text()).contains("No devices");
    }
  }

  @Test
  void no_other_app_takes_the_place_of_an_unknown_one() throws Exception {
    apps(3);
    HttpOperator admin = admin();

    for (String page : List.of("/devices?app=nope", "/messages?app=nope")) {
      var answer = admin.get(page);
      assertThat(answer.statusCode()).as(page).isEqualTo(404);
      assertThat(answer.body()).as(page).contains("no app with the id “nope”", "name=\"app\"");
    }
    var refused =
        admin.post(
            "/test-push",
            "/test-push",
            "form",
            "01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf",
            "app",
            "nope",
            "audienceKind",
            "device",
            "audience",
            "d1",
            "title",
            "Kept for another try",
            "body",
            "",
            "data",
            "",
            "route",
            "auto");
    assertThat(refused.headers().firstValue("Location").orElseThrow())
        .endsWith("/test-push?app=nope");
    assertThat(admin.get("/test-push?app=nope").body())
        .contains("no app with the id “nope”", "Kept for another try")
        .contains("<option value=\"\">choose an app</option>")
        .doesNotContain("selected=\"selected\">many-");
  }

  private HttpOperator admin() throws Exception {
    return HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
  }

  private void apps(int number) {
    Timestamp now = Timestamp.from(Instant.now());
    List<Object[]> apps =
        IntStream.range(0, number)
            .mapToObj(i -> new Object[] {id(i), "One of " + number, now})
            .toList();
    dashboard.sql().batchUpdate("INSERT INTO apps (id, name, created_at) VALUES (?, ?, ?)", apps);
    assertThat(MANY).isGreaterThan(AppChoice.MAX_LISTED);
  }

  private static String id(int number) {
    return "many-%04d".formatted(number);
  }

  private static void assertChosen(Chromium chromium) {
    assertThat(chromium.script("return document.getElementById('app').value"))
        .as("the app on " + chromium.path())
        .isEqualTo(LAST);
  }
}
