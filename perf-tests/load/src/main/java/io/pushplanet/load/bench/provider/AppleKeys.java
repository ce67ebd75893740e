package io.pushplanet.load.bench.provider;

import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.client.Operator;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.spec.ECGenParameterSpec;
import java.util.Base64;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// An operator who gets credentials from (simulated) Apple and uploads them for production in the
/// dashboard, which activates a credential when a worker has tried it. For one thread.
final class AppleKeys {
  private static final String BUNDLE_ID = "io.pushplanet.demo";
  private static final String TEAM_ID = "BENCHTEAM1";
  private static final String KEY_ID = "BENCHKEY01";
  private static final String PASSWORD = "bench";

  /// A credential on the dashboard's page.
  private static final Pattern CARD =
      Pattern.compile("id=\"credential-([0-9]+)\"(.*?)</section>", Pattern.DOTALL);

  private final URI simulators;
  private final Operator operator;
  private final String page;

  /// A key for token-based connections.
  ///
  /// @param p8 its private half, the file that Apple offers for download
  record Key(String teamId, String keyId, String p8) {
    @Override
    public String toString() {
      return "Key[" + keyId + "]";
    }
  }

  /// @param app the app of the credentials, with the bundle id of the demo app
  AppleKeys(URI simulators, Operator operator, String app) {
    this.simulators = simulators;
    this.operator = operator;
    this.page = "/apps/" + app + "/credentials";
  }

  /// A key of a team of its own, good for both environments.
  Key issueKey() {
    JsonNode issued = ask("POST", "/apns/keys", "{\"topics\":[\"" + BUNDLE_ID + "\"]}");
    return new Key(
        issued.path("team_id").asString(""),
        issued.path("key_id").asString(""),
        issued.path("p8").asString(""));
  }

  /// Uploads a key. Returns when it is active.
  ///
  /// @throws IllegalStateException when it is refused
  void upload(Key key) {
    operator.upload(
        page,
        page + "/p8",
        Map.of(
            "teamId",
            key.teamId(),
            "keyId",
            key.keyId(),
            "bundleId",
            BUNDLE_ID,
            "environment",
            "production"),
        key.p8().getBytes(StandardCharsets.US_ASCII));
  }

  /// Uploads a new certificate. Returns when it is active.
  ///
  /// @throws IllegalStateException when it is refused
  void uploadCertificate() {
    JsonNode issued =
        ask(
            "POST",
            "/apns/certificates",
            "{\"topic\":\"" + BUNDLE_ID + "\",\"password\":\"" + PASSWORD + "\"}");
    operator.upload(
        page,
        page + "/p12",
        Map.of("password", PASSWORD, "bundleId", BUNDLE_ID, "environment", "production"),
        Base64.getDecoder().decode(issued.path("p12").asString("")));
  }

  /// A key whose environment Apple can change.
  final class Restricted {
    private final KeyPair pair;

    Restricted() {
      try {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        pair = generator.generateKeyPair();
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException("this JDK has no P-256", e);
      }
    }

    Key key() {
      return new Key(TEAM_ID, KEY_ID, pem("PRIVATE KEY", pair.getPrivate().getEncoded()));
    }

    /// @param environment `production`, `sandbox` or `both`
    void serves(String environment) {
      ObjectNode known =
          JsonMapper.shared()
              .createObjectNode()
              .put("team_id", TEAM_ID)
              .put("key_id", KEY_ID)
              .put("public_key", pem("PUBLIC KEY", pair.getPublic().getEncoded()))
              .put("environment", environment);
      known.putArray("topics").add(BUNDLE_ID);
      ask("PUT", "/apns/keys", known.toString());
    }
  }

  /// Presses "Try again" at the paused credential.
  ///
  /// @throws IllegalStateException when none is paused, or when the provider refuses it
  void tryAgain() {
    Matcher card = CARD.matcher(operator.open(page));
    while (card.find()) {
      if (card.group(2).contains("Its provider refuses it")) {
        operator.press(page, page + "/" + card.group(1) + "/try");
        return;
      }
    }
    throw new IllegalStateException("the dashboard shows no credential that is refused");
  }

  private static String pem(String what, byte[] content) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(what, Base64.getMimeEncoder().encodeToString(content), what);
  }

  private JsonNode ask(String method, String path, String body) {
    HttpAnswer answer = HttpConnection.ask(simulators, method, path, "", body);
    return JsonMapper.shared().readTree(answer.body());
  }
}
