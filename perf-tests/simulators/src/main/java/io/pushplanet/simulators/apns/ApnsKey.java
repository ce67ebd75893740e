package io.pushplanet.simulators.apns;

import io.pushplanet.simulators.tls.Authority.Pem;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.List;

/// A team's signing key as Apple knows it: the public half, and the topics the team owns.
///
/// @param teamId ten characters
/// @param keyId ten characters
/// @param publicKeyPem X.509 SubjectPublicKeyInfo, P-256
/// @param topics bundle ids; a topic with a push type's suffix belongs to its bundle id
/// @param environment `production`, `sandbox` or `both`
public record ApnsKey(
    String teamId, String keyId, String publicKeyPem, List<String> topics, String environment) {
  public ApnsKey {
    if (!teamId.matches("[A-Z0-9]{10}") || !keyId.matches("[A-Z0-9]{10}")) {
      throw new IllegalArgumentException(
          "team_id and key_id are ten characters A-Z 0-9; they are \""
              + teamId
              + "\", \""
              + keyId
              + "\"");
    }
    if (!List.of("production", "sandbox", "both").contains(environment)) {
      throw new IllegalArgumentException("environment is production, sandbox or both");
    }
    topics = List.copyOf(topics);
    publicKey(publicKeyPem);
  }

  /// A fresh key with its private half, for its owner.
  ///
  /// @param p8 the file Apple would offer for download
  public record Issued(ApnsKey key, String p8) {
    @Override
    public String toString() {
      return "Issued[" + key + "]";
    }
  }

  /// Makes a key pair.
  public static Issued issue(String teamId, String keyId, List<String> topics) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair pair = generator.generateKeyPair();
      return new Issued(
          new ApnsKey(
              teamId, keyId, Pem.of("PUBLIC KEY", pair.getPublic().getEncoded()), topics, "both"),
          Pem.of("PRIVATE KEY", pair.getPrivate().getEncoded()));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JDK has no P-256", e);
    }
  }

  ECPublicKey publicKey() {
    return publicKey(publicKeyPem);
  }

  boolean serves(String wanted) {
    return environment.equals("both") || environment.equals(wanted);
  }

  private static ECPublicKey publicKey(String pem) {
    try {
      return (ECPublicKey)
          KeyFactory.getInstance("EC").generatePublic(new X509EncodedKeySpec(Pem.decode(pem)));
    } catch (GeneralSecurityException | ClassCastException e) {
      throw new IllegalArgumentException("public_key is no P-256 key in PEM form", e);
    }
  }
}
