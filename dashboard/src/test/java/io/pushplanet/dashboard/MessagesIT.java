package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.dashboard.browser.Chromium;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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

  @Test
  void a_long_list_of_users_is_told_by_number_only_on_the_page_of_its_message() throws Exception {
    String users =
        IntStream.range(0, 1_000)
            .mapToObj(i -> "\"u-" + i + "\"")
            .collect(Collectors.joining(",", "{\"kind\":\"users\",\"users\":[", "]}"));
    String message = rows.message("told", "Crowd", "Crowd", users, 12);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(admin.get("/messages").body()).contains(">many users<");
    assertThat(admin.get("/messages?app=told").body()).contains(">many users<");
    assertThat(admin.get("/messages/" + message).body()).contains(">1000 users<");
  }

  @Test
  void messages_of_a_deleted_device_are_still_shown() throws Exception {
    String message = rows.message("told", "Gone", "Gone", ALL, 1);
    rows.delivery(
        "told",
        message,
        "gone-1",
        "failed",
        "[{\"channel\":\"fcm\",\"at\":\"2026-11-21T10:00:00.350Z\",\"result\":\"rejected\",\"status\":404,\"reason\":\"UNREGISTERED\"}]");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    var page = admin.get("/devices/told/gone-1");
    assertThat(page.statusCode()).isEqualTo(200);
    assertThat(page.body())
        .contains("not registered any more")
        .contains("UNREGISTERED")
        .contains("/messages/" + message)
        .doesNotContain("Send a test push");
    assertThat(admin.get("/devices/told/never-there").statusCode()).isEqualTo(404);
  }

  @Test
  void a_timeline_shows_the_providers_words_and_says_nothing_twice() throws Exception {
    String message = rows.message("told", "Wrong", "Wrong", ALL, 2);
    rows.delivery(
        "told",
        message,
        "wrong-1",
        "failed",
        "[{\"channel\":\"fcm\",\"at\":\"2026-11-21T10:00:00.350Z\",\"result\":\"rejected\",\"status\":400,\"reason\":\"INVALID_ARGUMENT\",\"detail\":\"message.android.ttl: Illegal <b>duration\"}]");
    rows.delivery(
        "told",
        message,
        "wrong-2",
        "cancelled",
        "[{\"at\":\"2026-11-21T10:00:00.350Z\",\"result\":\"cancelled\",\"reason\":\"cancelled\"}]");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    String page = admin.get("/messages/" + message).body();

    assertThat(page)
        .contains("<strong>INVALID_ARGUMENT</strong>")
        .contains("<span>“message.android.ttl: Illegal &lt;b&gt;duration”</span>")
        .contains("<span>cancelled</span>")
        .doesNotContain("<strong>cancelled</strong>");
    assertThat(page.split("<span>cancelled</span>", -1)).hasSize(2);
  }

  @Test
  void a_pasted_id_may_have_blanks_about_it() throws Exception {
    String message = rows.message("told", "Pasted", "Pasted", ALL, 1);
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/messages");

      chromium.type("id", "    " + message + " ").press("Find");

      assertThat(chromium.textOf("#message-title")).isEqualTo("Pasted");
    }
  }

  /// With the keyboard, an arrow key on a closed select chooses the next app.
  @Test
  void an_app_is_chosen_without_being_looked_up() throws Exception {
    rows.message("told", "Chosen", "Chosen", ALL, 1);
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/messages");

      assertThat(
              chromium.script(
                  """
                  let sent = 0;
                  document.addEventListener('submit', () => sent++);
                  const app = document.getElementById('app');
                  app.value = 'told';
                  app.dispatchEvent(new Event('change', { bubbles: true }));
                  return sent;
                  """))
          .isEqualTo(0L);
      chromium.press("Find");

      assertThat(chromium.path()).isEqualTo("/messages?app=told&id=");
      assertThat(chromium.text()).contains("Chosen");
    }
  }

  @Test
  void a_message_is_found_also_in_capitals_and_an_unknown_one_is_said_to_be() throws Exception {
    String message = rows.message("told", "Found", "Found", ALL, 1);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    var found = admin.get("/messages?id=" + message.toUpperCase(Locale.ROOT));
    assertThat(found.headers().firstValue("Location").orElseThrow())
        .endsWith("/messages/" + message);
    assertThat(admin.get("/messages/" + message.toUpperCase(Locale.ROOT)).body()).contains("Found");
    for (String unknown : new String[] {"01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf", "%3Cb%3E"}) {
      var page = admin.get("/messages?app=told&id=" + unknown);
      assertThat(page.statusCode()).isEqualTo(200);
      assertThat(page.body()).contains("Nothing found").doesNotContain(message);
    }
    assertThat(admin.get("/messages?app=told&id=+").body()).contains(message);
  }
}
