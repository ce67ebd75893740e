package io.pushplanet.dashboard.credential;

import java.nio.charset.StandardCharsets;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.ECParameterSpec;
import java.security.spec.EllipticCurve;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Pattern;

/// An APNs authentication key, as Apple's developer account gives it out
/// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns).
final class ApnsKey {
  static final Pattern BUNDLE_ID = Pattern.compile("[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+");
  private static final Pattern TEN = Pattern.compile("[A-Z0-9]{10}");

  private ApnsKey() {}

  static CheckedCredential check(
      byte[] file, String teamId, String keyId, String bundleId, List<String> environments)
      throws RefusedCredential {
    if (!TEN.matcher(teamId).matches()) {
      throw new RefusedCredential(
          "The team id has 10 upper-case letters and digits; find it under Membership in your Apple developer account.");
    }
    if (!TEN.matcher(keyId).matches()) {
      throw new RefusedCredential(
          "The key id has 10 upper-case letters and digits; it is in the file's name: AuthKey_KEYID.p8.");
    }
    checkBundle(bundleId);
    String pem = Pem.text(file);
    if (!(Pem.privateKey(pem, "EC", "The .p8 file") instanceof ECPrivateKey key)
        || !key.getParams().getCurve().equals(p256())) {
      throw new RefusedCredential(
          "The .p8 file holds a key on another curve than P-256, which APNs does not accept.");
    }
    var detail = new LinkedHashMap<String, String>();
    detail.put("team_id", teamId);
    detail.put("key_id", keyId);
    detail.put("bundle_id", bundleId);
    return new CheckedCredential(
        "apns", environments, "p8", detail, pem.getBytes(StandardCharsets.UTF_8), null);
  }

  static void checkBundle(String bundleId) throws RefusedCredential {
    if (bundleId.length() > 155 || !BUNDLE_ID.matcher(bundleId).matches()) {
      throw new RefusedCredential("The bundle id looks like com.example.app.");
    }
  }

  private static EllipticCurve p256() {
    try {
      AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
      parameters.init(new ECGenParameterSpec("secp256r1"));
      return parameters.getParameterSpec(ECParameterSpec.class).getCurve();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK lacks P-256", e);
    }
  }
}
