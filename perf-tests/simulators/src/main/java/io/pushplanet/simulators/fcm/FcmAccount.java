package io.pushplanet.simulators.fcm;

import io.pushplanet.simulators.tls.Authority.Pem;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PublicKey;
import java.security.spec.X509EncodedKeySpec;
import tools.jackson.databind.json.JsonMapper;

/// A Google service account as Google knows it: the public half of its key.
public record FcmAccount(
    String projectId, String clientEmail, String privateKeyId, String publicKeyPem) {
  public FcmAccount {
    if (projectId.isBlank() || clientEmail.isBlank()) {
      throw new IllegalArgumentException("project_id and client_email must not be empty");
    }
    publicKey(publicKeyPem);
  }

  /// A fresh account with the JSON file that Google's console would offer for download.
  public record Issued(FcmAccount account, String json) {
    @Override
    public String toString() {
      return "Issued[" + account + "]";
    }
  }

  /// Makes a service account of a project.
  public static Issued issue(String projectId, String tokenUri) {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
      generator.initialize(2048);
      KeyPair pair = generator.generateKeyPair();
      String publicPem = Pem.of("PUBLIC KEY", pair.getPublic().getEncoded());
      String keyId = Integer.toHexString(publicPem.hashCode());
      FcmAccount account =
          new FcmAccount(
              projectId, "push@" + projectId + ".iam.gserviceaccount.com", keyId, publicPem);
      JsonMapper mapper = JsonMapper.shared();
      String json =
          mapper
              .createObjectNode()
              .put("type", "service_account")
              .put("project_id", projectId)
              .put("private_key_id", keyId)
              .put("private_key", Pem.of("PRIVATE KEY", pair.getPrivate().getEncoded()))
              .put("client_email", account.clientEmail())
              .put("client_id", "1")
              .put("token_uri", tokenUri)
              .toPrettyString();
      return new Issued(account, json);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("This JDK has no RSA", e);
    }
  }

  PublicKey publicKey() {
    return publicKey(publicKeyPem);
  }

  private static PublicKey publicKey(String pem) {
    try {
      return KeyFactory.getInstance("RSA").generatePublic(new X509EncodedKeySpec(Pem.decode(pem)));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("public_key is no RSA key in PEM form", e);
    }
  }
}
