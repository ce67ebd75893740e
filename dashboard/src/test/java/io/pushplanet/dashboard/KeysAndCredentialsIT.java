package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.app.ApiKeys;
import io.pushplanet.dashboard.browser.Chromium;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KeysAndCredentialsIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();

  @Test
  void a_key_is_shown_once_and_revoked_everywhere_within_a_second() throws Exception {
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/apps");
      chromium.type("id", "keyed").type("name", "Keyed").press("Create app");
      chromium.type("name", "orders backend").press("Create key");
      String text = chromium.textOf("#new-key");
      ApiKey key = ApiKey.parse(text).orElseThrow();
      Map<String, Object> row =
          dashboard.sql().queryForMap("SELECT * FROM api_keys WHERE id = ?", key.id());
      assertThat(key.matches((byte[]) row.get("hash"))).isTrue();
      assertThat(row.get("scopes")).isEqualTo("send,devices,read");
      assertThat(chromium.go("/apps/keyed/keys").text()).doesNotContain(text).contains(key.id());

      chromium.type("name", "second").press("Create key");
      chromium.type("name", "third").press("Create key");
      assertThat(chromium.text()).contains("two live keys already");

      List<Change> told = new CopyOnWriteArrayList<>();
      try (ChangeFeed feed =
          ChangeFeed.follow(dashboard.bean(DataSource.class), told::add, () -> {})) {
        assertThat(feed).isNotNull();
        String changes = "SELECT COUNT(*) FROM changes WHERE subject = '" + key.id() + "'";
        long before = count(changes);
        chromium.acceptAnyQuestion().pressIn(key.id(), "Revoke");
        // The change is stored when the page says so, and each process polls often enough. How long
        // this machine takes for a poll does not matter here.
        assertThat(count(changes)).isEqualTo(before + 1);
        assertThat(ChangeFeed.PERIOD.multipliedBy(2)).isLessThan(Duration.ofSeconds(1));
        Eventually.within(
            Duration.ofSeconds(60),
            () -> assertThat(told).anyMatch(change -> change.subject().equals(key.id())));
      }
      assertThat(chromium.text()).contains("stops working everywhere within a second");
      // From the page of another admin, which still has the button.
      HttpOperator other =
          HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      other.post("/apps/keyed/keys", "/apps/keyed/keys/" + key.id() + "/revoke");
      assertThat(other.get("/apps/keyed/keys").body()).contains("The key was revoked already.");
      assertThat(
              dashboard
                  .sql()
                  .queryForObject(
                      "SELECT revoked_at IS NOT NULL FROM api_keys WHERE id = ?",
                      Boolean.class,
                      key.id()))
          .isTrue();
    }
  }

  @Test
  void a_key_whose_name_resembles_that_of_test_pushes_is_a_key_like_any_other() throws Exception {
    AppId app = new AppId("resembling");
    new Rows(dashboard.sql()).app(app.value(), "Resembling");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    String page = "/apps/resembling/keys";
    for (String name : List.of("dáshboard test push", "Dashboard Test Push", "a third key")) {
      admin.post(page, page, "name", name, "scopes", "SEND");
    }
    assertThat(admin.get(page).body())
        .contains("two live keys already")
        .contains(">dáshboard test push<", ">Dashboard Test Push<")
        .doesNotContain("a third key");

    dashboard
        .sql()
        .update(
            "UPDATE api_keys SET created_at = NOW(3) - INTERVAL 1 HOUR WHERE app_id = 'resembling'");
    dashboard.bean(ApiKeys.class).forOneRequest(app);

    assertThat(
            count(
                "SELECT COUNT(*) FROM api_keys WHERE app_id = 'resembling' AND revoked_at IS NULL"))
        .as("both keys of the operator and the one of the request")
        .isEqualTo(3);
    assertThat(admin.get(page).body()).doesNotContain(">dashboard test push<");
    admin.post(page, page, "name", "dashboard test push", "scopes", "SEND");
    assertThat(admin.get(page).body()).contains("Give the key a name");
  }

  @Test
  void an_admin_renames_an_app_and_its_id_stays() throws Exception {
    new Rows(dashboard.sql()).app("renamed", "Former");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    String page = "/apps/renamed/keys";
    for (String name : new String[] {" Present <b> ", "Present <b>"}) {
      admin.post(page, "/apps/renamed/name", "name", name);
      assertThat(admin.get(page).body())
          .contains("<h1>Present &lt;b&gt;</h1>")
          .contains("The app was renamed.");
    }
    admin.post(page, "/apps/renamed/name", "name", " ");
    assertThat(admin.get(page).body())
        .contains("<h1>Present &lt;b&gt;</h1>")
        .contains("A name has 1 to 200 characters.");
    assertThat(
            dashboard
                .sql()
                .queryForList("SELECT name FROM apps WHERE id = 'renamed'", String.class))
        .containsExactly("Present <b>");
    assertThat(
            dashboard
                .sql()
                .queryForList(
                    "SELECT detail FROM audit WHERE action = 'app_renamed' AND subject = 'renamed'",
                    String.class))
        .containsExactly("Former → Present <b>");
    assertThat(admin.post("/apps", "/apps/nobody/name", "name", "x").statusCode()).isEqualTo(404);
  }

  @Test
  void an_app_that_was_never_used_is_deleted() throws Exception {
    new Rows(dashboard.sql()).app("mistake", "Mistake");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    assertThat(admin.get("/apps/mistake/keys").body()).contains("Delete the app");

    admin.post("/apps", "/apps/mistake/delete");

    assertThat(admin.get("/apps/mistake/keys").statusCode()).isEqualTo(404);
    assertThat(
            dashboard
                .sql()
                .queryForList(
                    "SELECT subject FROM audit WHERE action = 'app_deleted'", String.class))
        .containsExactly("mistake");
  }

  /// The key and the credential of the app are gone, but their records are not.
  @ParameterizedTest
  @ValueSource(
      strings = {
        """
        INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at, revoked_at)
        VALUES (LEFT(SHA2(?, 256), 20), 'in-use', 'backend', '', 'send', NOW(3), NOW(3))
        """,
        """
        INSERT INTO api_keys (id, app_id, name, hash, scopes, created_at, revoked_at)
        VALUES (LEFT(SHA2(?, 256), 20), 'in-use', 'dashboard test push', '', 'send', NOW(3), NOW(3))
        """,
        """
        INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by)
        VALUES ('in-use', 'fcm', 'production', 'json', 'retired', ?, '', NOW(3), 'admin')
        """,
        """
        INSERT INTO devices (app_id, device_id, platform, mqtt, created_at, updated_at, seen_at)
        VALUES ('in-use', ?, 'ios', FALSE, NOW(3), NOW(3), NOW(3))
        """,
        """
        INSERT INTO messages (day, id, app_id, audience, content, delivery, accepted_at, expires_at)
        VALUES (CURRENT_DATE, '0190c000-0000-7000-8000-000000000077', 'in-use', '{}', ?, '{}', NOW(3), NOW(3))
        """
      })
  void an_app_that_was_used_is_not_deleted(String use) throws Exception {
    for (String table : List.of("api_keys", "credentials", "devices", "messages")) {
      dashboard.sql().update("DELETE FROM " + table + " WHERE app_id = 'in-use'");
    }
    new Rows(dashboard.sql()).app("in-use", "In use");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    assertThat(admin.get("/apps/in-use/keys").body()).contains("Delete the app");
    dashboard.sql().update(use, "in-use");

    assertThat(admin.get("/apps/in-use/keys").body())
        .doesNotContain("Delete the app")
        .contains("cannot be deleted");
    admin.post("/apps", "/apps/in-use/delete");

    assertThat(admin.get("/apps/in-use/keys").statusCode()).isEqualTo(200);
  }

  @Test
  void an_uploaded_p8_is_sealed_and_active_and_the_former_one_retires(@TempDir Path folder)
      throws Exception {
    new Rows(dashboard.sql()).app("apple", "Apple");
    String pem = KeyFiles.p8("secp256r1");
    Path file = Files.writeString(folder.resolve("AuthKey_KEY1234567.p8"), pem);
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      for (int i = 0; i < 2; i++) {
        chromium
            .go("/apps/apple/credentials")
            .type("p8-file", file.toString())
            .type("p8-team", "TEAM123456")
            .type("p8-key", "KEY1234567")
            .type("p8-bundle", "com.example.shop")
            .pressIn("/p8", "Check and activate");
        assertThat(chromium.text())
            .contains("active: the next push uses it")
            .contains("TEAM123456");
      }
    }

    List<Map<String, Object>> active =
        dashboard
            .sql()
            .queryForList(
                "SELECT * FROM credentials WHERE app_id = 'apple' AND state = 'active' ORDER BY environment");
    assertThat(active)
        .extracting(row -> row.get("environment"))
        .containsExactly("production", "sandbox");
    Map<String, Object> production = active.getFirst();
    assertThat(production.get("detail"))
        .isEqualTo(
            "{\"team_id\":\"TEAM123456\",\"key_id\":\"KEY1234567\",\"bundle_id\":\"com.example.shop\"}");
    byte[] opened =
        dashboard
            .bean(CredentialVault.class)
            .decrypt(
                new AppId("apple"),
                "apns",
                "production",
                ((Number) production.get("id")).longValue(),
                (byte[]) production.get("secret"));
    assertThat(new String(opened, StandardCharsets.UTF_8)).isEqualTo(pem.strip());
    assertThat(count("SELECT COUNT(*) FROM credentials WHERE app_id = 'apple'")).isEqualTo(4);
    assertThat(count("SELECT COUNT(*) FROM changes WHERE app_id = 'apple' AND kind = 'credential'"))
        .isEqualTo(6);
  }

  @Test
  void a_refused_form_keeps_what_was_typed_and_no_secret(@TempDir Path folder) throws Exception {
    new Rows(dashboard.sql()).app("typed", "Typed");
    Path file = Files.writeString(folder.resolve("AuthKey_KEY1234567.p8"), "garbage");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium
          .go("/apps/typed/credentials")
          .type("p8-file", file.toString())
          .type("p8-team", "TEAM123456")
          .type("p8-key", "KEY1234567")
          .type("p8-bundle", "com.example.shop");
      chromium.script("document.getElementById('p8-environment').value = 'sandbox'");
      chromium.pressIn("/p8", "Check and activate");

      assertThat(values(chromium, "p8-team", "p8-key", "p8-bundle", "p8-environment"))
          .isEqualTo("TEAM123456,KEY1234567,com.example.shop,sandbox");

      chromium
          .type("hms-client", "no number")
          .type("hms-secret", "a-secret-of-huawei")
          .pressIn("/hms", "Check and activate");

      assertThat(values(chromium, "hms-client", "hms-secret", "p8-team")).isEqualTo("no number,,");
      assertThat(chromium.script("return document.documentElement.innerHTML").toString())
          .doesNotContain("a-secret-of-huawei");
    }
  }

  private static Object values(Chromium chromium, String... fields) {
    return chromium.script(
        "return ['%s'].map(id => document.getElementById(id).value).join()"
            .formatted(String.join("','", fields)));
  }

  @Test
  void a_p12_needs_its_password_and_shows_when_it_expires(@TempDir Path folder) throws Exception {
    new Rows(dashboard.sql()).app("cert", "Certificate");
    Path file = Files.write(folder.resolve("apns.p12"), KeyFiles.p12("the right one", 0));
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium
          .go("/apps/cert/credentials")
          .type("p12-file", file.toString())
          .type("p12-password", "the wrong one")
          .pressIn("/p12", "Check and activate");
      assertThat(chromium.text()).contains("The password does not open this .p12 file");
      assertThat(count("SELECT COUNT(*) FROM credentials WHERE app_id = 'cert'")).isZero();

      chromium
          .type("p12-file", file.toString())
          .type("p12-password", "the right one")
          .pressIn("/p12", "Check and activate");
      assertThat(chromium.text())
          .contains("com.example.shop")
          .contains("expires within 30 days")
          .contains("active");
      chromium.picture("credentials-filled-light");
    }
  }

  @Test
  void a_service_account_is_checked_and_sealed(@TempDir Path folder) throws Exception {
    new Rows(dashboard.sql()).app("google", "Google");
    Path wrong = Files.writeString(folder.resolve("google-services.json"), "{\"project_info\":{}}");
    Path right = Files.writeString(folder.resolve("key.json"), KeyFiles.serviceAccount());
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium
          .go("/apps/google/credentials")
          .type("fcm-file", wrong.toString())
          .pressIn("/fcm", "Check and activate");
      assertThat(chromium.text()).contains("This is google-services.json");

      chromium.type("fcm-file", right.toString()).pressIn("/fcm", "Check and activate");
      assertThat(chromium.text()).contains("demo-project").contains("no expiry");
    }
    assertThat(
            dashboard
                .sql()
                .queryForObject(
                    "SELECT CONCAT(provider, '/', environment, '/', kind) FROM credentials WHERE app_id = 'google'",
                    String.class))
        .isEqualTo("fcm/production/service_account");
  }

  @Test
  void a_web_push_key_is_made_and_its_public_half_is_shown() throws Exception {
    new Rows(dashboard.sql()).app("web", "Web");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium
          .go("/apps/web/credentials")
          .type("vapid-contact", "push@example.com")
          .pressIn("/vapid", "Check and activate");
      assertThat(chromium.text())
          .contains("Web Push key (VAPID)")
          .contains(
              dashboard
                  .sql()
                  .queryForObject(
                      "SELECT JSON_VALUE(detail, '$.public_key') FROM credentials WHERE app_id = 'web'",
                      String.class));
    }
    Map<String, Object> row =
        dashboard.sql().queryForMap("SELECT id, secret FROM credentials WHERE app_id = 'web'");
    assertThat(
            new String(
                dashboard
                    .bean(CredentialVault.class)
                    .decrypt(
                        new AppId("web"),
                        "webpush",
                        "production",
                        ((Number) row.get("id")).longValue(),
                        (byte[]) row.get("secret")),
                StandardCharsets.US_ASCII))
        .startsWith("-----BEGIN PRIVATE KEY-----");
  }

  private long count(String query) {
    return dashboard.sql().queryForObject(query, Long.class);
  }
}
