package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.hms.HmsClient;
import io.pushplanet.simulators.ledger.Simulated;
import io.pushplanet.simulators.script.Fate;
import io.pushplanet.simulators.script.ScriptLine;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Providers are asked about a credential before it is used: their answers to good ones, and to bad
/// ones.
class CredentialProbesIT {
  @TempDir static Path state;
  private static ProviderPlatform platform;
  private static CredentialRows rows;

  @BeforeAll
  static void start() {
    platform =
        ProviderPlatform.start(
            state, true, "--gateway.roles=deliver,later", "--gateway.credentials.period=100ms");
    rows = new CredentialRows(platform);
  }

  @AfterAll
  static void stop() {
    platform.close();
  }

  @Test
  void a_good_key_is_told_by_the_answer_that_the_device_does_not_exist() {
    ApnsKey.Issued good = CredentialRows.key("LIFE000001", "GOODKEY001");
    platform.simulators.apnsDirectory().register(good.key());

    assertThat(rows.asked("asked-good", "production", good))
        .isEqualTo("accepted 400 BadDeviceToken");
    assertThat(rows.asked("asked-good", "sandbox", good)).isEqualTo("accepted 400 BadDeviceToken");
  }

  @Test
  void a_key_that_apple_does_not_know_is_refused_with_its_word() {
    assertThat(
            rows.asked(
                "asked-unknown", "production", CredentialRows.key("LIFE000002", "NOSUCHKEY1")))
        .isEqualTo("refused 403 InvalidProviderToken");
  }

  @Test
  void a_key_of_the_other_environment_is_refused_with_its_word() {
    ApnsKey.Issued issued = CredentialRows.key("LIFE000003", "SANDBOX001");
    ApnsKey known = issued.key();
    platform
        .simulators
        .apnsDirectory()
        .register(
            new ApnsKey(
                known.teamId(), known.keyId(), known.publicKeyPem(), known.topics(), "sandbox"));

    assertThat(rows.asked("asked-sandbox", "production", issued))
        .isEqualTo("refused 403 BadEnvironmentKeyIdInToken");
    assertThat(rows.asked("asked-sandbox", "sandbox", issued))
        .isEqualTo("accepted 400 BadDeviceToken");
  }

  @Test
  void a_key_for_other_topics_is_refused_with_its_word() {
    ApnsKey.Issued others = ApnsKey.issue("LIFE000004", "OTHERAPP01", List.of("com.other.app"));
    platform.simulators.apnsDirectory().register(others.key());

    assertThat(rows.asked("asked-topic", "production", others))
        .isEqualTo("refused 400 TopicDisallowed");
  }

  @Test
  void a_certificate_is_asked_about_too() {
    rows.insert(
        "asked-p12",
        "apns",
        "production",
        "p12",
        "candidate",
        CredentialRows.P12_DETAIL,
        rows.p12());

    assertThat(rows.verdict("asked-p12", "production")).isEqualTo("accepted 400 BadDeviceToken");
  }

  @Test
  void a_credential_that_cannot_be_opened_here_counts_as_not_refused() {
    ApnsKey.Issued issued = CredentialRows.key("LIFE000009", "UNREADABLE");
    rows.insert(
        "asked-unreadable",
        "apns",
        "production",
        "p8",
        "active",
        CredentialRows.p8Detail(issued),
        CredentialRows.bytes(issued.p8()));
    rows.sql()
        .update(
            "UPDATE credentials SET secret = 'of another master key', probe_at = NOW() WHERE app_id = 'asked-unreadable'");

    assertThat(rows.verdict("asked-unreadable", "production")).startsWith("unreachable ");
    assertThat(
            rows.sql()
                .queryForObject(
                    "SELECT COUNT(*) FROM credentials WHERE app_id = 'asked-unreadable' AND paused_at IS NULL",
                    Long.class))
        .isOne();
  }

  @Test
  void push_kit_is_asked_to_validate_only_and_a_client_it_does_not_know_is_refused() {
    HmsClient known = platform.simulators.hmsDirectory().issue("5001", true);
    for (String app : List.of("asked-hms", "asked-hms-secret", "asked-hms-client")) {
      rows.insert(
          app,
          "hms",
          "production",
          "client_secret",
          "candidate",
          "{\"client_id\":\"" + (app.endsWith("client") ? "5002" : "5001") + "\"}",
          CredentialRows.bytes(app.endsWith("secret") ? "another one" : known.secret()));
    }

    assertThat(rows.verdict("asked-hms", "production")).isEqualTo("accepted 200 80000000");
    assertThat(rows.verdict("asked-hms-secret", "production"))
        .isEqualTo("refused 400 1101/12304 (access token)");
    assertThat(rows.verdict("asked-hms-client", "production"))
        .isEqualTo("refused 400 1101/20003 (access token)");
  }

  @Test
  void push_kit_is_asked_once_more_when_it_wants_a_newer_access_token() {
    HmsClient known = platform.simulators.hmsDirectory().issue("5003", true);
    ScriptLine stale = ScriptLine.next(Simulated.HMS, 1, Fate.answer(400, "80200003"));
    platform.simulators.script().add(stale);

    rows.insert(
        "asked-hms-stale",
        "hms",
        "production",
        "client_secret",
        "candidate",
        "{\"client_id\":\"5003\"}",
        CredentialRows.bytes(known.secret()));

    assertThat(rows.verdict("asked-hms-stale", "production")).isEqualTo("accepted 200 80000000");
    assertThat(platform.simulators.script().lines()).isEmpty();
  }

  @Test
  void fcm_is_asked_once_more_when_it_wants_a_newer_access_token() {
    FcmAccount.Issued good =
        FcmAccount.issue("asked-stale-project", platform.simulators.fcm().tokenUri());
    platform.simulators.fcmDirectory().register(good.account());
    ScriptLine stale = ScriptLine.next(Simulated.FCM, 1, Fate.answer(401, "UNAUTHENTICATED"));
    platform.simulators.script().add(stale);

    rows.insert(
        "asked-fcm-stale",
        "fcm",
        "production",
        "service_account",
        "candidate",
        "{}",
        CredentialRows.bytes(good.json()));

    assertThat(rows.verdict("asked-fcm-stale", "production")).isEqualTo("accepted 200");
    assertThat(platform.simulators.script().lines()).isEmpty();
  }

  @Test
  void fcm_is_asked_to_validate_only() {
    String tokenUri = platform.simulators.fcm().tokenUri();
    FcmAccount.Issued good = FcmAccount.issue("asked-project", tokenUri);
    platform.simulators.fcmDirectory().register(good.account());
    FcmAccount.Issued unknown = FcmAccount.issue("asked-nobody", tokenUri);
    rows.insert(
        "asked-fcm",
        "fcm",
        "production",
        "service_account",
        "candidate",
        "{}",
        CredentialRows.bytes(good.json()));
    rows.insert(
        "asked-fcm-unknown",
        "fcm",
        "production",
        "service_account",
        "candidate",
        "{}",
        CredentialRows.bytes(unknown.json()));
    rows.insert(
        "asked-fcm-project",
        "fcm",
        "production",
        "service_account",
        "candidate",
        "{}",
        CredentialRows.bytes(good.json().replace("\"asked-project\"", "\"another-project\"")));

    assertThat(rows.verdict("asked-fcm", "production")).isEqualTo("accepted 200");
    assertThat(rows.verdict("asked-fcm-unknown", "production"))
        .isEqualTo("refused 400 invalid_grant (access token)");
    assertThat(rows.verdict("asked-fcm-project", "production"))
        .isEqualTo("refused 403 PERMISSION_DENIED");
  }
}
