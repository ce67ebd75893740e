package io.pushplanet.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.FakeWorker.Answer;
import io.pushplanet.dashboard.browser.Chromium;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.security.crypto.password.PasswordEncoder;

/// The pages about a credential that is refused, cannot be tried, is replaced, paused, or sealed
/// with an older key.
class CredentialLifecycleIT {
  private final RunningDashboard dashboard = RunningDashboard.shared();
  @TempDir Path folder;

  @Test
  void a_refused_key_is_not_activated_and_the_page_says_why() throws Exception {
    new Rows(dashboard.sql()).app("refused", "Refused");
    dashboard.worker().say("refused", new Answer("refused", "403 BadEnvironmentKeyIdInToken"));
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      upload(chromium, "refused", "KEY0000001");

      assertThat(chromium.text())
          .containsOnlyOnce("he provider refuses it: 403 BadEnvironmentKeyIdInToken")
          .containsOnlyOnce("The key is for the other environment")
          .doesNotContain("active: the next push uses it");
      // Not even an admin activates what a provider has refused.
      assertThat(chromium.count("form[action*='activate']")).isZero();
      chromium.picture("credentials-refused-light");
      assertThat(chromium.go("/apps/refused/credentials").text())
          .containsOnlyOnce("The provider refuses it: 403 BadEnvironmentKeyIdInToken")
          .containsOnlyOnce("The key is for the other environment");
      HttpOperator admin =
          HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      admin.post(
          "/apps/refused/credentials",
          "/apps/refused/credentials/" + id("refused", "candidate") + "/activate-anyway");
      assertThat(count("app_id = 'refused' AND state = 'active'")).isZero();

      chromium.acceptAnyQuestion().pressIn("/retire", "Discard");
      assertThat(chromium.text()).contains("retired");
    }
  }

  @Test
  void a_key_for_both_environments_is_told_of_for_each() throws Exception {
    new Rows(dashboard.sql()).app("halved", "Halved");
    dashboard
        .worker()
        .say("halved", "production", new Answer("refused", "403 BadEnvironmentKeyIdInToken"));
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      upload(chromium, "halved", "HALFKEY001", "both");

      assertThat(chromium.textOf(".note.bad[role=alert]"))
          .contains("for production: the provider refuses it: 403 BadEnvironmentKeyIdInToken");
      assertThat(chromium.textOf(".note.good[role=status]"))
          .contains("for sandbox: it is active, and the next push uses it");
      assertThat(state("halved", "HALFKEY001", "sandbox")).isEqualTo("active");

      dashboard
          .worker()
          .say("halved", "sandbox", new Answer("refused", "403 InvalidProviderToken"));
      upload(chromium, "halved", "NOKEY00001", "both");

      assertThat(chromium.textOf(".note.bad[role=alert]"))
          .contains("for production: the provider refuses it: 403 BadEnvironmentKeyIdInToken")
          .contains("for sandbox: the provider refuses it: 403 InvalidProviderToken");
      assertThat(chromium.count(".note.good[role=status]")).isZero();
    }
  }

  @Test
  void only_an_admin_activates_a_credential_that_no_worker_tried() throws Exception {
    new Rows(dashboard.sql()).app("unreached", "Unreached");
    dashboard
        .worker()
        .say("unreached", new Answer("unreachable", "api.push.apple.com: no answer within 10 s"));
    operator("uploader", "operator");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login("uploader", RunningDashboard.PASSWORD);
      upload(chromium, "unreached", "KEY0000002");
      assertThat(chromium.text())
          .containsOnlyOnce("provider could not be asked")
          .contains("so it is not active")
          .contains("no answer within 10 s")
          .contains("It is tried again by itself; activate it when the provider accepts it.")
          .doesNotContain("Activate anyway");
      assertThat(chromium.go("/apps/unreached/credentials").text())
          .containsOnlyOnce("provider could not be asked")
          .contains("It will be tried again automatically at");
      long candidate = id("unreached", "candidate");
      HttpOperator uploader =
          HttpOperator.loggedIn(dashboard, "uploader", RunningDashboard.PASSWORD);
      assertThat(
              uploader
                  .post(
                      "/apps/unreached/credentials",
                      "/apps/unreached/credentials/" + candidate + "/activate-anyway")
                  .statusCode())
          .isEqualTo(403);
    }
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      chromium.go("/apps/unreached/credentials").acceptAnyQuestion();
      chromium.press("Activate anyway");
      assertThat(chromium.text()).contains("The credential is active");

      chromium.press("Try again");
      assertThat(chromium.text())
          .contains("the provider could not be asked, and it stays active: api.push.apple.com")
          .doesNotContain("so it is not active");
    }
    assertThat(
            dashboard
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM audit WHERE action = 'credential_activated_anyway' AND subject LIKE 'unreached/%'",
                    Long.class))
        .isEqualTo(1);
  }

  @Test
  void without_a_worker_the_page_says_that_the_credential_was_not_tried() throws Exception {
    new Rows(dashboard.sql()).app("unwatched", "Unwatched");
    dashboard.worker().say("unwatched", Answer.NONE);
    // The other tests wait for an answer as long as a busy machine may take.
    RunningDashboard impatient =
        RunningDashboard.start(
            dashboard.services(), Map.of("dashboard.credential-check-within", "1s"));
    impatient.worker().stop();
    try (Chromium chromium = Chromium.open(impatient.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      upload(chromium, "unwatched", "KEY0000003");
      assertThat(chromium.text()).contains("no gateway worker has tried it yet");

      dashboard.worker().say("unwatched", new Answer("accepted", "400 BadDeviceToken"));
      Eventually.within(
          Duration.ofSeconds(60),
          () -> assertThat(count("app_id = 'unwatched' AND probe_verdict IS NULL")).isZero());
      chromium.go("/apps/unwatched/credentials").press("Activate");
      assertThat(chromium.text())
          .contains("The credential is active")
          .contains("about a device that does not exist it said 400 BadDeviceToken");
    } finally {
      impatient.stop();
    }
  }

  @Test
  void a_replaced_key_is_kept_for_a_while_and_comes_back_by_one_button() throws Exception {
    new Rows(dashboard.sql()).app("rolled", "Rolled back");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      upload(chromium, "rolled", "OLDKEY0001", "both");
      upload(chromium, "rolled", "NEWKEY0001", "both");
      assertThat(state("rolled", "OLDKEY0001", "production")).isEqualTo("overlapping");
      assertThat(state("rolled", "NEWKEY0001", "production")).isEqualTo("active");
      assertThat(chromium.text()).contains("it is used if the new one is refused");
      chromium.picture("credentials-overlapping-light");

      chromium
          .acceptAnyQuestion()
          .pressIn("/" + id("rolled", "overlapping") + "/roll-back", "Roll back to this one");

      assertThat(chromium.text()).contains("The former credential is active again");
    }
    List<String> old =
        List.of(
            state("rolled", "OLDKEY0001", "production"), state("rolled", "OLDKEY0001", "sandbox"));
    assertThat(old).containsExactlyInAnyOrder("active", "overlapping");
    assertThat(count("app_id = 'rolled' AND state = 'retired'")).isEqualTo(1);
    assertThat(
            dashboard
                .sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM audit WHERE action = 'credential_rolled_back' AND subject LIKE 'rolled/%'",
                    Long.class))
        .isEqualTo(1);
  }

  @Test
  void a_form_that_is_sent_twice_leaves_the_former_credential_to_roll_back_to() throws Exception {
    new Rows(dashboard.sql()).app("doubled", "Doubled");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    uploadPushKitClient(admin, "doubled");
    dashboard
        .sql()
        .update(
            "UPDATE credentials SET created_at = NOW(3) - INTERVAL 1 DAY WHERE app_id = 'doubled'");
    long former = id("doubled", "active");

    uploadPushKitClient(admin, "doubled");
    uploadPushKitClient(admin, "doubled");

    assertThat(id("doubled", "overlapping")).isEqualTo(former);
    assertThat(count("app_id = 'doubled' AND state = 'retired'")).isEqualTo(1);
    String page = "/apps/doubled/credentials";
    admin.post(page, page + "/" + former + "/roll-back");
    assertThat(id("doubled", "active")).isEqualTo(former);
    assertThat(count("app_id = 'doubled' AND state = 'retired'")).isEqualTo(2);
  }

  @Test
  void the_slower_of_two_operators_is_told_that_it_was_done_already() throws Exception {
    new Rows(dashboard.sql()).app("raced", "Raced");
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
    uploadPushKitClient(admin, "raced");
    String page = "/apps/raced/credentials";
    String one = page + "/" + id("raced", "active");

    for (String button : List.of("/activate", "/activate-anyway", "/roll-back")) {
      admin.post(page, one + button);
      assertThat(admin.get(page).body()).as(button).contains("The credential is active already.");
    }
    admin.post(page, one + "/retire");
    for (String button : List.of("/retire", "/try")) {
      admin.post(page, one + button);
      assertThat(admin.get(page).body()).as(button).contains("The credential was retired already.");
    }
    assertThat(admin.post(page, page + "/0/retire").statusCode()).isEqualTo(404);
  }

  private static void uploadPushKitClient(HttpOperator operator, String app) throws Exception {
    String page = "/apps/" + app + "/credentials";
    operator.post(page, page + "/hms", "clientId", "100000001", "clientSecret", "a".repeat(64));
  }

  @Test
  void a_paused_credential_is_shown_with_its_reason_and_can_be_tried_again() throws Exception {
    new Rows(dashboard.sql()).app("halted", "Halted");
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);
      upload(chromium, "halted", "KEY0000005");
      // Does what a worker does.
      dashboard
          .sql()
          .update(
              "UPDATE credentials SET paused_at = NOW(3), pause_reason = 'InvalidProviderToken', probe_at = NOW(3) + INTERVAL 1 HOUR WHERE app_id = 'halted' AND environment = 'production'");
      dashboard
          .sql()
          .update(
              "INSERT INTO alerts (alert_key, kind, app_id, subject, text, at) VALUES ('credential_paused/1/1', 'credential_paused', 'halted', 'apns/production', 'The provider refuses this credential: InvalidProviderToken.', NOW(3))");
      dashboard.worker().say("halted", new Answer("refused", "403 InvalidProviderToken"));

      assertThat(chromium.go("/apps/halted/credentials").text())
          .contains("Its provider refuses it: InvalidProviderToken")
          .contains("Apple does not know this key")
          .contains("credential paused");
      chromium.picture("credentials-paused-light");
      chromium
          .size(390, 844)
          .go("/apps/halted/credentials")
          .picture("credentials-paused-phone-light");
      chromium.size(1280, 900);
      assertThat(chromium.go("/").textOf("#troubles"))
          .contains("halted")
          .contains("InvalidProviderToken");
      chromium.picture("overview-troubles-light");
      chromium.focusUntilReplaced("#troubles a[href='/apps/halted/credentials']");
      assertThat(chromium.focused()).isEqualTo("halted");

      chromium.go("/apps/halted/credentials").pressIn("/" + paused() + "/try", "Try again");
      assertThat(chromium.text()).contains("the provider refuses it: 403 InvalidProviderToken");
    }
  }

  @Test
  void certificates_that_have_ended_hide_none_that_ends_soon() {
    for (int i = 0; i < 40; i++) {
      certificate("ended-" + i, Duration.ofDays(-1 - i));
    }
    certificate("ends-last", Duration.ofDays(29));
    certificate("ends-next", Duration.ofDays(2));
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

      assertThat(chromium.go("/").textOf("#troubles"))
          .containsSubsequence("ends-next", "ends-last", "ended-0", "expired", "ended-19")
          .doesNotContain("ended-20");
      chromium.picture("overview-ended-light");
    } finally {
      dashboard.sql().update("DELETE FROM credentials WHERE created_by = 'ended'");
    }
  }

  private void certificate(String app, Duration left) {
    dashboard
        .sql()
        .update(
            "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, expires_at, created_at, created_by)"
                + " VALUES (?, 'apns', 'production', 'p12', 'active', '{}', '', ?, NOW(3), 'ended')",
            app,
            Timestamp.from(Instant.now().plus(left)));
  }

  @Test
  void the_overview_shows_kept_tokens_until_the_credential_is_replaced() throws Exception {
    new Rows(dashboard.sql()).app("swapped", "Swapped");
    // Does what a worker does once an hour.
    for (int hour = 1; hour <= 2; hour++) {
      dashboard
          .sql()
          .update(
              "INSERT INTO alerts (alert_key, kind, app_id, subject, text, at) VALUES (?, 'tokens_kept', 'swapped', 'apns/production', 'So many tokens look dead', NOW(3) - INTERVAL ? HOUR)",
              "tokens_kept/swapped/" + hour,
              hour);
    }
    HttpOperator admin =
        HttpOperator.loggedIn(dashboard, RunningDashboard.ADMIN, RunningDashboard.PASSWORD);

    assertThat(admin.get("/overview/cards").body())
        .containsOnlyOnce("/apps/swapped/credentials")
        .contains("tokens kept");

    dashboard
        .sql()
        .update(
            "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by) VALUES ('swapped', 'apns', 'production', 'p8', 'active', '{}', 'x', NOW(3), 'test')");
    assertThat(admin.get("/overview/cards").body()).doesNotContain("/apps/swapped/credentials");
  }

  private long paused() {
    return dashboard
        .sql()
        .queryForObject(
            "SELECT id FROM credentials WHERE app_id = 'halted' AND paused_at IS NOT NULL",
            Long.class);
  }

  @Test
  void credentials_of_the_former_master_key_are_sealed_again_by_one_button() {
    new Rows(dashboard.sql()).app("sealed", "Sealed");
    CredentialVault former =
        new CredentialVault(
            MasterKey.parse(RunningDashboard.FORMER_MASTER_KEY), new SecureRandom());
    for (int i = 0; i < 250; i++) {
      dashboard
          .sql()
          .update(
              "INSERT INTO credentials (app_id, provider, environment, kind, state, detail, secret, created_at, created_by) VALUES ('sealed', 'apns', 'production', 'p8', 'retired', '{}', ?, NOW(3), 'test')",
              former.encrypt(
                  new AppId("sealed"),
                  "apns",
                  "production",
                  ("secret " + i).getBytes(StandardCharsets.UTF_8)));
    }
    try (Chromium chromium = Chromium.open(dashboard.address())) {
      chromium.login(RunningDashboard.ADMIN, RunningDashboard.PASSWORD).go("/encryption");
      assertThat(chromium.text()).contains("not complete");
      chromium.picture("encryption-before-light");

      chromium.press("Seal all with the current key");
      Eventually.within(
          Duration.ofSeconds(60),
          () -> assertThat(count("app_id = 'sealed' AND key_id IS NULL")).isZero());
      chromium.go("/encryption").picture("encryption-after-light");
    }

    CredentialVault current =
        new CredentialVault(MasterKey.parse(RunningDashboard.MASTER_KEY), new SecureRandom());
    List<Map<String, Object>> rows =
        dashboard.sql().queryForList("SELECT id, secret FROM credentials WHERE app_id = 'sealed'");
    assertThat(rows)
        .hasSize(250)
        .allSatisfy(row ->
            assertThat(
                    current.decrypt(
                        new AppId("sealed"),
                        "apns",
                        "production",
                        ((Number) row.get("id")).longValue(),
                        (byte[]) row.get("secret")))
                .asString(StandardCharsets.UTF_8)
                .startsWith("secret "));
    Eventually.within(
        Duration.ofSeconds(60),
        () ->
            assertThat(
                    dashboard
                        .sql()
                        .queryForObject(
                            "SELECT COUNT(*) FROM audit WHERE action = 'credentials_resealed'",
                            Long.class))
                .isPositive());
  }

  private void upload(Chromium chromium, String app, String keyId) throws Exception {
    upload(chromium, app, keyId, "production");
  }

  private void upload(Chromium chromium, String app, String keyId, String environment)
      throws Exception {
    Path file =
        Files.writeString(folder.resolve("AuthKey_" + keyId + ".p8"), KeyFiles.p8("secp256r1"));
    chromium
        .go("/apps/" + app + "/credentials")
        .type("p8-file", file.toString())
        .type("p8-team", "TEAM123456")
        .type("p8-key", keyId)
        .type("p8-bundle", "com.example.shop");
    chromium.script(
        "document.getElementById('p8-environment').value = '" + environment + "'; return true");
    chromium.pressIn("/p8", "Check and activate");
  }

  private void operator(String name, String role) {
    dashboard
        .sql()
        .update(
            "INSERT IGNORE INTO operators (name, password, role, created_at) VALUES (?, ?, ?, NOW())",
            name,
            dashboard.bean(PasswordEncoder.class).encode(RunningDashboard.PASSWORD),
            role);
  }

  private long id(String app, String state) {
    return dashboard
        .sql()
        .queryForObject(
            "SELECT MIN(id) FROM credentials WHERE app_id = ? AND state = ?",
            Long.class,
            app,
            state);
  }

  private String state(String app, String keyId, String environment) {
    return dashboard
        .sql()
        .queryForObject(
            "SELECT state FROM credentials WHERE app_id = ? AND environment = ? AND JSON_VALUE(detail, '$.key_id') = ?",
            String.class,
            app,
            environment,
            keyId);
  }

  private long count(String where) {
    return dashboard
        .sql()
        .queryForObject("SELECT COUNT(*) FROM credentials WHERE " + where, Long.class);
  }
}
