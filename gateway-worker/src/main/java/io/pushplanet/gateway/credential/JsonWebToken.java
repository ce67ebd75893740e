package io.pushplanet.gateway.credential;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.RSAPrivateKey;
import java.util.Base64;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Signs JSON Web Tokens in compact form (RFC 7515, 7519).
public final class JsonWebToken {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final Base64.Encoder BASE64 = Base64.getUrlEncoder().withoutPadding();

  private JsonWebToken() {}

  /// The signature is r and s side by side, 32 bytes each (RFC 7518, section 3.4), not Java's usual
  /// DER.
  public static String es256(ECPrivateKey key, String keyId, ObjectNode claims) {
    return signed("ES256", "SHA256withECDSAinP1363Format", key, keyId, claims);
  }

  public static String rs256(RSAPrivateKey key, String keyId, ObjectNode claims) {
    return signed("RS256", "SHA256withRSA", key, keyId, claims);
  }

  private static String signed(
      String name, String algorithm, PrivateKey key, String keyId, ObjectNode claims) {
    ObjectNode header = JSON.createObjectNode().put("alg", name).put("typ", "JWT");
    if (!keyId.isEmpty()) {
      header.put("kid", keyId);
    }
    String input =
        BASE64.encodeToString(JSON.writeValueAsBytes(header))
            + "."
            + BASE64.encodeToString(JSON.writeValueAsBytes(claims));
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(input.getBytes(StandardCharsets.US_ASCII));
      return input + "." + BASE64.encodeToString(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot sign with " + name, e);
    }
  }
}
