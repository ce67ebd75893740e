package io.pushplanet.gateway.credential;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.access.Sha256;
import io.pushplanet.gateway.credential.Credential.ApnsCertificate;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.Credential.VapidKey;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import javax.net.ssl.KeyManagerFactory;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Parses an opened row into a credential. docs/credential-rows.md describes the formats.
final class CredentialParser {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final int P256_BITS = 256;
  private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
  private static final String END = "-----END PRIVATE KEY-----";

  private CredentialParser() {}

  /// @throws IllegalArgumentException says what is wrong, without the secret
  static Credential parse(CredentialRow row, byte[] secret) {
    try {
      JsonNode detail = JSON.readTree(row.detail());
      return switch (row.kind()) {
        case "p8" -> key(detail, secret);
        case "p12" -> certificate(detail, secret);
        case "service_account" -> serviceAccount(secret);
        case "client_secret" -> hmsClient(detail, secret);
        case "vapid" -> vapidKey(detail, secret);
        default -> throw new IllegalArgumentException("unknown kind " + row.kind());
      };
    } catch (JacksonException e) {
      throw new IllegalArgumentException("not JSON", e);
    } catch (GeneralSecurityException | IOException | ClassCastException e) {
      throw new IllegalArgumentException("not a " + row.kind() + ": " + e.getMessage(), e);
    }
  }

  private static ApnsKey key(JsonNode detail, byte[] pem) throws GeneralSecurityException {
    return new ApnsKey(
        text(detail, "team_id"),
        text(detail, "key_id"),
        text(detail, "bundle_id"),
        p256(pem),
        fingerprint(pem));
  }

  private static VapidKey vapidKey(JsonNode detail, byte[] pem) throws GeneralSecurityException {
    // The subject is signed, too: another subject needs other tokens.
    String subject = text(detail, "subject");
    return new VapidKey(
        subject, text(detail, "public_key"), p256(pem), fingerprint(pem) + "/" + subject);
  }

  private static ECPrivateKey p256(byte[] pem) throws GeneralSecurityException {
    ECPrivateKey key = (ECPrivateKey) privateKey("EC", new String(pem, StandardCharsets.US_ASCII));
    if (key.getParams().getCurve().getField().getFieldSize() != P256_BITS) {
      throw new IllegalArgumentException("not a key on P-256");
    }
    return key;
  }

  private static ApnsCertificate certificate(JsonNode detail, byte[] secret)
      throws GeneralSecurityException, IOException {
    JsonNode form = JSON.readTree(secret);
    char[] password = form.path("password").asString("").toCharArray();
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(
        new ByteArrayInputStream(Base64.getMimeDecoder().decode(text(form, "p12"))), password);
    KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    keys.init(store, password);
    return new ApnsCertificate(
        text(detail, "bundle_id"), keys.getKeyManagers(), fingerprint(secret));
  }

  private static FcmServiceAccount serviceAccount(byte[] json) throws GeneralSecurityException {
    JsonNode account = JSON.readTree(json);
    return new FcmServiceAccount(
        text(account, "project_id"),
        text(account, "client_email"),
        account.path("private_key_id").asString(""),
        (RSAPrivateKey) privateKey("RSA", text(account, "private_key")),
        URI.create(account.path("token_uri").asString("https://oauth2.googleapis.com/token")),
        fingerprint(json));
  }

  private static HmsClient hmsClient(JsonNode detail, byte[] secret)
      throws GeneralSecurityException {
    String clientId = text(detail, "client_id");
    return new HmsClient(
        clientId,
        new Secret(new String(secret, StandardCharsets.UTF_8)),
        fingerprint(secret) + "/" + clientId);
  }

  /// Only the text between the two lines is the key: tools write comments before and after
  /// (https://www.rfc-editor.org/rfc/rfc7468#section-2).
  private static PrivateKey privateKey(String algorithm, String pem)
      throws GeneralSecurityException {
    int begin = pem.indexOf(BEGIN);
    int end = pem.indexOf(END);
    if (begin < 0 || end < begin) {
      throw new IllegalArgumentException("not a private key in PKCS#8 and PEM");
    }
    byte[] der = Base64.getMimeDecoder().decode(pem.substring(begin + BEGIN.length(), end));
    return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(der));
  }

  private static String text(JsonNode object, String field) {
    String value = object.path(field).asString("");
    if (value.isBlank()) {
      throw new IllegalArgumentException(field + " is missing");
    }
    return value;
  }

  private static String fingerprint(byte[] secret) {
    return HexFormat.of().formatHex(Sha256.of(secret), 0, 8);
  }
}
