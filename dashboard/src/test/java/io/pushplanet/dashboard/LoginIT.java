package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.dashboard.browser.Chromium;
import java.net.http.HttpResponse;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Primary;
import org.springframework.security.crypto.password.PasswordEncoder;

class LoginIT {
  private static final String SESSION = "pushplanet-dashboard";

  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void the_first_operator_of_the_settings_logs_in_and_out() {
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.go("/messages");
      assertThat(chromium.path()).isEqualTo("/login?to=%2Fmessages");

      chromium
          .type("username", RunningDashboard.ADMIN)
          .type("password", RunningDashboard.PASSWORD)
          .press("Log in");
      assertThat(chromium.textOf("h1")).isEqualTo("Messages");
      assertThat(chromium.cookie(SESSION).isHttpOnly()).isTrue();
      assertThat(chromium.cookie(SESSION).getSameSite()).isEqualTo("Lax");

      chromium.press("Log out");
      assertThat(chromium.text()).contains("You are logged out");
      assertThat(chromium.go("/messages").path()).startsWith("/login?");
    }
  }

  @Test
  void five_failures_lock_the_name_for_a_quarter_of_an_hour() {
    dashboard.operator("locked-out", "viewer");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      for (int i = 0; i < 4; i++) {
        chromium.login("locked-out", "wrong");
        assertThat(chromium.text()).contains("The name or the password is not right");
      }
      chromium.login("locked-out", "wrong");
      assertThat(chromium.text()).contains("locked for 15 minutes");

      chromium.login("locked-out", RunningDashboard.PASSWORD);
      assertThat(chromium.text()).contains("locked for 15 minutes");

      Timestamp until =
          dashboard
              .sql()
              .queryForObject(
                  "SELECT locked_until FROM operators WHERE name = 'locked-out'", Timestamp.class);
      assertThat(Duration.between(Instant.now(), until.toInstant()))
          .isBetween(Duration.ofMinutes(14), Duration.ofMinutes(15));
      dashboard
          .sql()
          .update(
              "UPDATE operators SET locked_until = ? WHERE name = 'locked-out'",
              Timestamp.from(Instant.now().minusSeconds(1)));
      chromium.login("locked-out", RunningDashboard.PASSWORD);
      assertThat(chromium.textOf("h1")).isEqualTo("Overview");
    }
    assertThat(audited("locked-out")).contains("login_failed", "login_locked", "login");
  }

  @Test
  void a_login_that_gets_no_turn_is_told_to_come_back_and_not_that_the_database_is_away()
      throws Exception {
    dashboard.operator("waiting", "viewer");
    RunningDashboard busy =
        RunningDashboard.start(
            dashboard.services(),
            Map.of("dashboard.max-password-checks", "1"),
            HeldPasswords.class);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor();
        HeldPasswords held = busy.bean(HeldPasswords.class)) {
      Future<HttpResponse<String>> first =
          threads.submit(() -> new HttpOperator(busy.address()).login("waiting", "wrong"));
      assertThat(held.begun.await(60, TimeUnit.SECONDS)).isTrue();

      HttpResponse<String> second =
          new HttpOperator(busy.address()).login("waiting", RunningDashboard.PASSWORD);

      assertThat(second.statusCode()).isEqualTo(429);
      assertThat(second.headers().firstValue("Retry-After")).contains("5");
      assertThat(second.body())
          .contains("Too many logins at once", "try it again in five seconds")
          .doesNotContain("MySQL");
      held.letGo();
      assertThat(first.get(60, TimeUnit.SECONDS).statusCode()).isEqualTo(302);
      assertThat(audited("waiting")).containsExactly("login_failed");
    } finally {
      busy.stop();
    }
  }

  /// The check of a password ends only when the test lets it.
  @Primary
  static final class HeldPasswords implements PasswordEncoder, AutoCloseable {
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch free = new CountDownLatch(1);

    @Override
    public String encode(CharSequence password) {
      return "";
    }

    @Override
    public boolean matches(CharSequence password, String stored) {
      begun.countDown();
      try {
        assertThat(free.await(120, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return false;
    }

    void letGo() {
      free.countDown();
    }

    @Override
    public void close() {
      letGo();
    }
  }

  @Test
  void a_login_gets_a_session_id_of_its_own_and_a_guarded_cookie() throws Exception {
    HttpOperator operator = new HttpOperator(dashboard.address());
    operator.plantCookie(SESSION, "planted");

    HttpResponse<String> login = operator.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(sessionsIn(login))
        .singleElement()
        .satisfies(cookie ->
            assertThat(cookie)
                .contains("HttpOnly")
                .contains("SameSite=Lax")
                .doesNotContain("planted"));
    assertThat(login.headers().firstValue("Content-Security-Policy").orElseThrow())
        .contains("script-src 'self'")
        .doesNotContain("unsafe");
  }

  @Test
  void a_visitor_without_login_gets_no_session() throws Exception {
    HttpOperator stranger = new HttpOperator(dashboard.address());
    List<HttpResponse<String>> answers =
        List.of(
            stranger.get("/"),
            stranger.get("/messages?app=shop"),
            stranger.get("/login"),
            stranger.get("/login?failed"),
            stranger.get("/error"),
            stranger.get("/webjars/nothing"),
            stranger.login("nobody-at-all", "wrong"),
            stranger.postWithoutToken("/login"),
            stranger.postWithoutToken("/apps"),
            stranger.post("/login", "/logout"));

    assertThat(answers).allSatisfy(answer -> assertThat(sessionsIn(answer)).isEmpty());
  }

  @Test
  void a_form_of_another_site_logs_no_operator_in() throws Exception {
    HttpOperator victim = new HttpOperator(dashboard.address());
    victim.get("/login");
    HttpOperator stranger = new HttpOperator(dashboard.address());
    String form =
        "/login?username=admin&password="
            + RunningDashboard.PASSWORD.replace(" ", "%20")
            + "&_csrf=";

    assertThat(locationOf(victim.postWithoutToken(form))).isEqualTo("/login?ended");
    assertThat(locationOf(victim.postWithoutToken(form + stranger.csrf("/login"))))
        .isEqualTo("/login?ended");
    assertThat(victim.get("/messages").statusCode()).isEqualTo(302);
  }

  @Test
  void a_planted_cookie_makes_no_form_of_a_session() throws Exception {
    HttpOperator stranger = new HttpOperator(dashboard.address());
    String token = stranger.csrf("/login");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    admin.plantCookie("pushplanet-login", stranger.cookie("pushplanet-login"));

    assertThat(admin.postWithoutToken("/apps?id=planted&name=P&_csrf=" + token).statusCode())
        .isEqualTo(403);

    assertThat(admin.get("/apps").body()).doesNotContain("planted");
  }

  @Test
  void a_login_leads_to_the_page_that_was_wanted_and_never_to_another_site() throws Exception {
    HttpOperator operator = new HttpOperator(dashboard.address());
    String login = locationOf(operator.get("/messages?before=%22&app=shop"));
    assertThat(login).isEqualTo("/login?to=%2Fmessages%3Fbefore%3D%2522%26app%3Dshop");
    String wanted = "/messages?before=%22&app=shop";

    assertThat(operator.get(login).body()).contains("value=\"/messages?before=%22&amp;app=shop\"");
    assertThat(locationOf(loginFor(wanted, "wrong"))).isEqualTo(login.replace("?", "?failed&"));
    assertThat(locationOf(loginFor(wanted, RunningDashboard.PASSWORD))).isEqualTo(wanted);
    for (String elsewhere :
        List.of(
            "",
            "messages",
            "https://evil.example/",
            "//evil.example/",
            "/\\evil.example/",
            "/\t/evil.example/",
            "/messages\r\nSet-Cookie: a=b",
            "/" + "x".repeat(1_000))) {
      assertThat(locationOf(loginFor(elsewhere, RunningDashboard.PASSWORD)))
          .as(elsewhere)
          .isEqualTo("/");
    }
  }

  @Test
  void a_login_in_a_second_tab_leads_to_its_page() throws Exception {
    HttpOperator operator = new HttpOperator(dashboard.address());
    String secondTab =
        "/login?username=admin&password=any&to=%2Fmessages&_csrf=" + operator.csrf("/login");
    operator.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(locationOf(operator.postWithoutToken(secondTab))).isEqualTo("/messages");
    assertThat(operator.get("/messages").statusCode()).isEqualTo(200);
    assertThat(locationOf(operator.get("/login"))).isEqualTo("/");
  }

  @Test
  void a_form_that_outlived_its_session_is_said_not_to_be_done() throws Exception {
    dashboard.operator("interrupted", "admin");
    HttpOperator operator =
        HttpOperator.loggedIn(dashboard, "interrupted", RunningDashboard.PASSWORD);
    String form = "/apps?id=interrupted&name=I&_csrf=" + operator.csrf("/apps");
    dashboard.operator("interrupted", "operator");

    assertThat(locationOf(operator.postWithoutToken(form))).isEqualTo("/login?ended");
    assertThat(locationOf(operator.postWithoutToken(form))).isEqualTo("/login?ended");
    assertThat(operator.get("/login?ended").body()).contains("What you sent was not done");
    assertThat(locationOf(operator.postWithoutToken("/logout"))).isEqualTo("/login?out");
    assertThat(
            HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD)
                .get("/apps/interrupted/keys")
                .statusCode())
        .isEqualTo(404);
  }

  private HttpResponse<String> loginFor(String wanted, String password) throws Exception {
    return new HttpOperator(dashboard.address())
        .post(
            "/login",
            "/login",
            "username",
            RunningDashboard.ADMIN,
            "password",
            password,
            "to",
            wanted);
  }

  private String locationOf(HttpResponse<String> answer) {
    String location = answer.headers().firstValue("Location").orElseThrow();
    assertThat(location).startsWith(dashboard.address());
    return location.substring(dashboard.address().length());
  }

  private static List<String> sessionsIn(HttpResponse<String> answer) {
    return answer.headers().allValues("Set-Cookie").stream()
        .filter(cookie -> cookie.startsWith(SESSION + "="))
        .toList();
  }

  @Test
  void a_viewer_looks_and_changes_nothing() throws Exception {
    dashboard.operator("looker", "viewer");
    HttpOperator viewer = HttpOperator.loggedIn(dashboard, "looker", RunningDashboard.PASSWORD);

    assertThat(viewer.get("/messages").statusCode()).isEqualTo(200);
    assertThat(viewer.get("/audit").statusCode()).isEqualTo(403);
    assertThat(viewer.get("/operators").statusCode()).isEqualTo(403);
    assertThat(viewer.get("/test-push").statusCode()).isEqualTo(403);
    HttpResponse<String> refused = viewer.post("/apps", "/apps", "id", "mine", "name", "Mine");
    assertThat(refused.statusCode()).isEqualTo(403);
    assertThat(refused.body()).contains("You may not do this").doesNotContain("Exception");
    assertThat(viewer.get("/dead-letters").statusCode()).isEqualTo(200);
    assertThat(viewer.post("/apps", "/dead-letters/replay", "letter", "all").statusCode())
        .isEqualTo(403);
  }

  @Test
  void a_change_without_the_forms_token_is_refused() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(admin.postWithoutToken("/apps?id=forged&name=Forged").statusCode()).isEqualTo(403);
    assertThat(admin.get("/apps").body()).doesNotContain("forged");
  }

  @Test
  void a_session_ends_when_its_operator_is_changed() throws Exception {
    dashboard.operator("promoted", "viewer");
    HttpOperator session = HttpOperator.loggedIn(dashboard, "promoted", RunningDashboard.PASSWORD);
    assertThat(session.get("/messages").statusCode()).isEqualTo(200);
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    admin.post("/operators", "/operators/promoted/role", "role", "operator");

    assertThat(session.get("/messages").statusCode()).isEqualTo(302);
    assertThat(audited(RunningDashboard.ADMIN)).contains("operator_changed");
  }

  /// With the keyboard, an arrow key on a closed select chooses the next role.
  @Test
  void a_role_is_chosen_without_being_set() {
    dashboard.operator("arrowed", "viewer");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/operators");
      chromium.script(
          """
          const role = document.querySelector("form[action$='/arrowed/role'] select");
          role.value = 'admin';
          role.dispatchEvent(new Event('change', { bubbles: true }));
          role.value = 'operator';
          role.dispatchEvent(new Event('change', { bubbles: true }));
          """);

      chromium.pressIn("/arrowed/role", "Set role");

      assertThat(chromium.text()).contains("arrowed is now operator");
    }
    assertThat(
            dashboard
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM audit WHERE action = 'operator_changed' AND subject = 'arrowed'",
                    Long.class))
        .isEqualTo(1);
  }

  @Test
  void a_page_that_refreshes_itself_gives_way_to_the_login_and_comes_back() {
    dashboard.operator("watcher", "viewer");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login("watcher", RunningDashboard.PASSWORD).go("/nodes");

      dashboard.operator("watcher", "viewer");
      Eventually.within(
          Duration.ofSeconds(60),
          () -> assertThat(chromium.path()).isEqualTo("/login?to=%2Fnodes"));

      chromium
          .type("username", "watcher")
          .type("password", RunningDashboard.PASSWORD)
          .press("Log in");
      assertThat(chromium.path()).isEqualTo("/nodes");
      assertThat(chromium.textOf("h1")).isEqualTo("Nodes");
    }
  }

  @Test
  void a_page_that_refreshes_itself_keeps_nobody_logged_in_but_a_viewer() throws Exception {
    dashboard.operator("screen", "viewer");
    dashboard.operator("gone-home", "operator");
    dashboard.operator("night-shift", "operator");
    RunningDashboard other =
        RunningDashboard.start(dashboard.services(), Map.of(), HandClock.class);
    try {
      HandClock clock = other.bean(HandClock.class);
      HttpOperator screen = HttpOperator.loggedIn(other, "screen", RunningDashboard.PASSWORD);
      HttpOperator away = HttpOperator.loggedIn(other, "gone-home", RunningDashboard.PASSWORD);
      HttpOperator busy = HttpOperator.loggedIn(other, "night-shift", RunningDashboard.PASSWORD);
      away.get("/");
      for (int hour = 0; hour < 8; hour++) {
        assertThat(screen.refresh("/overview/tiles").statusCode()).isEqualTo(200);
        assertThat(away.refresh("/overview/tiles").statusCode()).isEqualTo(200);
        assertThat(busy.get("/messages").statusCode()).isEqualTo(200);
        clock.advance(Duration.ofHours(1));
      }

      assertThat(screen.refresh("/overview/tiles").statusCode()).isEqualTo(200);
      HttpResponse<String> ended = away.refresh("/overview/tiles");
      assertThat(ended.statusCode()).isEqualTo(401);
      assertThat(ended.headers().firstValue("HX-Refresh")).contains("true");
      assertThat(away.get("/").statusCode()).isEqualTo(302);
      assertThat(busy.get("/messages").statusCode()).isEqualTo(200);

      clock.advance(Duration.ofHours(8));
      assertThat(busy.get("/messages").statusCode()).isEqualTo(302);
    } finally {
      other.stop();
    }
  }

  @Primary
  static final class HandClock extends Clock {
    private final MutableClock clock = new MutableClock(Instant.now());

    void advance(Duration by) {
      clock.advance(by);
    }

    @Override
    public Instant instant() {
      return clock.instant();
    }

    @Override
    public ZoneId getZone() {
      return clock.getZone();
    }

    @Override
    public Clock withZone(ZoneId zone) {
      return clock.withZone(zone);
    }
  }

  @Test
  void a_page_says_when_it_is_out_of_date() {
    RunningDashboard other = RunningDashboard.start(dashboard.services(), Map.of());
    try (Chromium chromium = Chromium.open(other.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/nodes");
      assertThat(chromium.text()).doesNotContain("out of date");

      other.stop();
      Eventually.within(
          Duration.ofSeconds(60), () -> assertThat(chromium.text()).contains("out of date"));
    }
  }

  @Test
  void a_name_that_differs_from_another_in_capitals_is_refused_and_stays_in_the_form()
      throws Exception {
    dashboard.operator("Namesake", "viewer");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    admin.post(
        "/operators",
        "/operators",
        "name",
        "nameSAKE",
        "password",
        RunningDashboard.PASSWORD,
        "role",
        "operator");

    assertThat(admin.get("/operators").body())
        .contains("There is an operator named Namesake already.")
        .containsPattern("id=\"name\" name=\"name\" value=\"nameSAKE\"")
        .containsPattern("id=\"role\"(?s:.)*value=\"operator\" selected");
    assertThat(
            dashboard
                .sql()
                .queryForList(
                    "SELECT name FROM operators WHERE LOWER(name) = 'namesake'", String.class))
        .containsExactly("Namesake");
  }

  @Test
  void the_last_admin_stays() throws Exception {
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    for (String name : List.of("admin", "admin%20")) {
      admin.post("/operators", "/operators/" + name + "/delete");

      assertThat(admin.get("/operators").body()).contains("This is the last admin");
    }
    assertThat(admin.get("/operators").statusCode()).isEqualTo(200);
  }

  @Test
  void operators_change_their_own_password() throws Exception {
    dashboard.operator("changer", "viewer");
    HttpOperator changer = HttpOperator.loggedIn(dashboard, "changer", RunningDashboard.PASSWORD);

    changer.post(
        "/account",
        "/account/password",
        "current",
        RunningDashboard.PASSWORD,
        "wanted",
        "quite another one",
        "again",
        "quite another one");

    assertThat(changer.get("/messages").statusCode()).isEqualTo(302);
    HttpOperator again = HttpOperator.loggedIn(dashboard, "changer", "quite another one");
    assertThat(again.get("/messages").statusCode()).isEqualTo(200);
  }

  @Test
  void a_session_allows_no_more_guesses_than_the_login() throws Exception {
    dashboard.operator("guessed", "viewer");
    HttpOperator thief = HttpOperator.loggedIn(dashboard, "guessed", RunningDashboard.PASSWORD);

    for (int i = 0; i < 4; i++) {
      assertThat(changing(thief, "wrong")).contains("The current password is wrong");
    }
    assertThat(changing(thief, "wrong")).contains("locked for 15 minutes");
    assertThat(changing(thief, RunningDashboard.PASSWORD)).contains("locked for 15 minutes");

    assertThat(audited("guessed"))
        .contains("login_failed", "login_locked")
        .doesNotContain("password_changed");
    assertThat(
            new HttpOperator(dashboard.address())
                .login("guessed", RunningDashboard.PASSWORD)
                .headers()
                .firstValue("Location"))
        .hasValueSatisfying(page -> assertThat(page).endsWith("/login?locked"));
  }

  @Test
  void a_right_present_password_is_no_login_and_ends_the_count() throws Exception {
    dashboard.operator("careful", "viewer");
    HttpOperator careful = HttpOperator.loggedIn(dashboard, "careful", RunningDashboard.PASSWORD);
    String rest = "SELECT failed_logins, last_login_at FROM operators WHERE name = 'careful'";
    Map<String, Object> before = dashboard.sql().queryForMap(rest);

    changing(careful, "wrong");
    changing(careful, RunningDashboard.PASSWORD);

    assertThat(audited("careful")).containsExactly("login", "login_failed", "password_changed");
    assertThat(dashboard.sql().queryForMap(rest)).isEqualTo(before);
  }

  /// @return the page that answers
  private static String changing(HttpOperator who, String present) throws Exception {
    who.post(
        "/account",
        "/account/password",
        "current",
        present,
        "wanted",
        "quite another one",
        "again",
        "quite another one");
    return who.get("/account").body();
  }

  @Test
  void a_logout_that_cannot_be_written_down_ends_the_session_all_the_same() throws Exception {
    dashboard.operator("leaver", "viewer");
    HttpOperator leaver = HttpOperator.loggedIn(dashboard, "leaver", RunningDashboard.PASSWORD);
    try (var _ = Refusing.of(dashboard.sql(), "INSERT ON audit", "NEW.operator = 'leaver'")) {
      leaver.post("/account", "/logout");
    }

    assertThat(leaver.get("/messages").statusCode()).isEqualTo(302);
  }

  private List<String> audited(String operator) {
    return dashboard
        .sql()
        .queryForList("SELECT action FROM audit WHERE operator = ?", String.class, operator);
  }
}
