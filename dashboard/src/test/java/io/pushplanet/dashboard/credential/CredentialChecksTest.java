package io.pushplanet.dashboard.credential;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dashboard.KeyFiles;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class CredentialChecksTest {
  private static final List<String> PRODUCTION = List.of("production");

  /// After the certificates that the tests make become valid.
  private static final Instant NOW = Instant.now().plus(Duration.ofHours(1));

  @Test
  void a_p8_holds_a_key_on_p256() throws Exception {
    CheckedCredential checked =
        p8(KeyFiles.p8("secp256r1"), "TEAM123456", "KEY1234567", "com.example.shop");

    assertThat(checked.detail())
        .containsEntry("team_id", "TEAM123456")
        .containsEntry("key_id", "KEY1234567")
        .containsEntry("bundle_id", "com.example.shop");
    assertThat(new String(checked.secret(), StandardCharsets.UTF_8))
        .startsWith("-----BEGIN PRIVATE KEY-----");
    assertThat(checked.expiresAt()).isNull();
    assertThat(checked.toString()).doesNotContain("BEGIN");
  }

  @Test
  void a_faulty_p8_is_refused_with_its_fault() throws Exception {
    String good = KeyFiles.p8("secp256r1");

    refused(
        () -> p8(KeyFiles.p8("secp384r1"), "TEAM123456", "KEY1234567", "com.example.shop"),
        "another curve than P-256");
    refused(
        () -> p8(KeyFiles.rsaPem(), "TEAM123456", "KEY1234567", "com.example.shop"),
        "not an EC key");
    refused(
        () -> p8("hello", "TEAM123456", "KEY1234567", "com.example.shop"), "is not a private key");
    refused(
        () -> p8("-----BEGIN EC PRIVATE KEY-----", "TEAM123456", "KEY1234567", "com.example.shop"),
        "openssl pkcs8");
    refused(
        () -> p8("-----BEGIN CERTIFICATE-----", "TEAM123456", "KEY1234567", "com.example.shop"),
        "is a certificate");
    refused(() -> p8(good, "team", "KEY1234567", "com.example.shop"), "team id has 10");
    refused(() -> p8(good, "TEAM123456", "key", "com.example.shop"), "key id has 10");
    refused(() -> p8(good, "TEAM123456", "KEY1234567", "shop"), "com.example.app");
  }

  @Test
  void a_p12_tells_its_bundle_and_its_end() throws Exception {
    byte[] file = KeyFiles.p12("secret words", 0);

    CheckedCredential checked = ApnsCertificate.check(file, "secret words", "", PRODUCTION, NOW);

    assertThat(checked.detail()).containsEntry("bundle_id", "com.example.shop");
    assertThat(checked.expiresAt())
        .isBetween(NOW.plus(Duration.ofDays(19)), NOW.plus(Duration.ofDays(21)));
    var secret = WireForm.mapper().readTree(checked.secret());
    assertThat(secret.path("password").asString("")).isEqualTo("secret words");
    assertThat(java.util.Base64.getDecoder().decode(secret.path("p12").asString("")))
        .isEqualTo(file);
  }

  @Test
  void a_faulty_p12_is_refused_with_its_fault() throws Exception {
    byte[] good = KeyFiles.p12("secret words", 0);
    byte[] expired = KeyFiles.p12("secret words", -30);
    // Apple's mark for production, and the topics it lists: SEQUENCE { UTF8String
    // "com.example.bank" }.
    byte[] marked = KeyFiles.p12("secret words", 0, "1.2.840.113635.100.6.3.2=05:00");
    byte[] listed =
        KeyFiles.p12(
            "secret words",
            0,
            "1.2.840.113635.100.6.3.6=30:12:0C:10:63:6F:6D:2E:65:78:61:6D:70:6C:65:2E:62:61:6E:6B");

    refused(
        () -> ApnsCertificate.check(good, "other words", "", PRODUCTION, NOW),
        "password does not open");
    refused(
        () -> ApnsCertificate.check(new byte[] {1, 2, 3}, "x", "", PRODUCTION, NOW),
        "not a .p12 file");
    refused(
        () -> ApnsCertificate.check(expired, "secret words", "", PRODUCTION, NOW), "expired on");
    refused(
        () -> ApnsCertificate.check(good, "secret words", "", PRODUCTION, Instant.EPOCH),
        "not valid before");
    refused(
        () -> ApnsCertificate.check(marked, "secret words", "", List.of("sandbox"), NOW),
        "production only");
    refused(
        () -> ApnsCertificate.check(listed, "secret words", "", PRODUCTION, NOW),
        "is for com.example.bank, not for com.example.shop");
  }

  @Test
  void a_p12_with_two_keys_does_not_say_which_is_meant() throws Exception {
    char[] password = "secret words".toCharArray();
    KeyStore both = opened(KeyFiles.p12("secret words", 0), password);
    KeyStore other = opened(KeyFiles.p12("secret words", 0), password);
    both.setKeyEntry(
        "other", other.getKey("apns", password), password, other.getCertificateChain("apns"));
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    both.store(file, password);

    refused(
        () -> ApnsCertificate.check(file.toByteArray(), "secret words", "", PRODUCTION, NOW),
        "several certificates");
  }

  private static KeyStore opened(byte[] file, char[] password) throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(new ByteArrayInputStream(file), password);
    return store;
  }

  @Test
  void a_service_account_needs_its_fields_and_an_rsa_key() throws Exception {
    String good = KeyFiles.serviceAccount();

    assertThat(fcm(good).detail()).containsEntry("project_id", "demo-project");
    assertThat(fcm(good).environments()).containsExactly("production");
    refused(() -> fcm("not json"), "not a JSON file");
    refused(() -> fcm("[1]"), "\"type\" is not");
    refused(() -> fcm("{\"project_info\":{}}"), "google-services.json");
    refused(() -> fcm(good.replace("demo-project\"", "NO\"")), "\"project_id\"");
    assertThat(fcm(universe(good, "googleapis.com")).provider()).isEqualTo("fcm");
    refused(() -> fcm(universe(good, "s3nsapis.fr")), "is of s3nsapis.fr");
    refused(() -> fcm(good.replace("client_email", "email")), "\"client_email\" is missing");
    refused(() -> fcm(good.replace("https://", "http://")), "\"token_uri\"");
    refused(
        () -> fcm(good.replace("BEGIN PRIVATE KEY-----\\n", "BEGIN PRIVATE KEY-----\\nAAAA")),
        "damaged");
  }

  private static String universe(String account, String domain) {
    return account.replace("\"type\"", "\"universe_domain\":\"" + domain + "\",\"type\"");
  }

  @Test
  void a_push_kit_client_has_a_number_and_a_secret_that_nothing_shows() throws Exception {
    CheckedCredential checked = PushKitClient.check("100000001", "0123456789abcdef");

    assertThat(checked.provider()).isEqualTo("hms");
    assertThat(checked.detail()).containsExactly(java.util.Map.entry("client_id", "100000001"));
    assertThat(checked.secret()).asString().isEqualTo("0123456789abcdef");
    assertThat(checked.toString()).doesNotContain("0123456789abcdef");
    refused(() -> PushKitClient.check("com.example", "0123456789abcdef"), "digits only");
    refused(() -> PushKitClient.check("1", "short"), "client secret");
    refused(() -> PushKitClient.check("1", "two words of it"), "no blanks");
  }

  @Test
  void an_expiry_is_told_in_steps() {
    assertThat(Expiry.of(null, NOW)).isEqualTo(Expiry.NEVER);
    assertThat(Expiry.of(NOW.plus(Duration.ofDays(31)), NOW)).isEqualTo(Expiry.FAR);
    assertThat(Expiry.of(NOW.plus(Duration.ofDays(30)), NOW)).isEqualTo(Expiry.DAYS_30);
    assertThat(Expiry.of(NOW.plus(Duration.ofDays(14)), NOW)).isEqualTo(Expiry.DAYS_14);
    assertThat(Expiry.of(NOW.plus(Duration.ofDays(7)), NOW)).isEqualTo(Expiry.DAYS_7);
    assertThat(Expiry.of(NOW.plus(Duration.ofHours(24)), NOW)).isEqualTo(Expiry.DAY_1);
    assertThat(Expiry.of(NOW, NOW)).isEqualTo(Expiry.EXPIRED);
  }

  private interface Check {
    CheckedCredential run() throws Exception;
  }

  @Test
  void a_key_of_a_web_push_tool_gets_its_public_half() throws Exception {
    // RFC 8291's example (https://www.rfc-editor.org/rfc/rfc8291#section-5)
    String scalar = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw";

    CheckedCredential checked = vapid(scalar, "push@example.com");

    assertThat(checked.detail())
        .containsEntry(
            "public_key",
            "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8")
        .containsEntry("subject", "mailto:push@example.com");
    assertThat(checked.toString()).doesNotContain("BEGIN").doesNotContain(scalar);
    String pem = new String(checked.secret(), StandardCharsets.US_ASCII);
    assertThat(vapid(pem, "mailto:push@example.com").detail()).isEqualTo(checked.detail());
  }

  @Test
  void a_key_pair_that_is_made_here_is_one() throws Exception {
    CheckedCredential made = VapidKey.generate("push@example.com");

    String pem = new String(made.secret(), StandardCharsets.US_ASCII);
    assertThat(vapid(pem, "push@example.com").detail()).isEqualTo(made.detail());
    assertThat(VapidKey.generate("push@example.com").detail()).isNotEqualTo(made.detail());
  }

  @Test
  void a_faulty_web_push_key_is_refused_with_its_fault() throws Exception {
    refused(() -> vapid(KeyFiles.p8("secp384r1"), "push@example.com"), "another curve than P-256");
    refused(() -> vapid("AAAA", "push@example.com"), "32 bytes in base64url");
    refused(() -> vapid("hello!", "push@example.com"), "32 bytes in base64url");
    refused(() -> VapidKey.generate("nobody"), "e-mail address");
    refused(() -> VapidKey.generate(""), "e-mail address");
  }

  private static CheckedCredential vapid(String text, String contact) throws RefusedCredential {
    return VapidKey.check(text.getBytes(StandardCharsets.UTF_8), contact);
  }

  private static void refused(Check check, String words) {
    assertThatThrownBy(check::run)
        .isInstanceOf(RefusedCredential.class)
        .hasMessageContaining(words);
  }

  private static CheckedCredential p8(String pem, String team, String key, String bundle)
      throws RefusedCredential {
    return ApnsKey.check(pem.getBytes(StandardCharsets.UTF_8), team, key, bundle, PRODUCTION);
  }

  private static CheckedCredential fcm(String json) throws RefusedCredential {
    return ServiceAccount.check(json.getBytes(StandardCharsets.UTF_8));
  }
}
