package io.pushplanet.dashboard.credential;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.regex.Pattern;

/// The OAuth 2.0 client of an app that may send through Huawei's Push Kit
/// (https://developer.huawei.com/consumer/cn/doc/HMSCore-Guides/oauth2-0000001212610981).
final class PushKitClient {
  /// https://developer.huawei.com/consumer/en/doc/doccenter-references/api/account-server-error-code/
  private static final Pattern ID = Pattern.compile("[0-9]{1,64}");

  private static final Pattern SECRET = Pattern.compile("[\\x21-\\x7e]{8,256}");

  private PushKitClient() {}

  static CheckedCredential check(String clientId, String secret) throws RefusedCredential {
    if (!ID.matcher(clientId).matches()) {
      throw new RefusedCredential(
          "The client id has digits only. AppGallery Connect, Project settings, shows it beside the app id: they are the same number.");
    }
    if (!SECRET.matcher(secret).matches()) {
      throw new RefusedCredential(
          "The client secret has at least 8 letters and digits, and no blanks. AppGallery Connect, Project settings, shows it below the client id.");
    }
    var detail = new LinkedHashMap<String, String>();
    detail.put("client_id", clientId);
    return new CheckedCredential(
        "hms",
        List.of("production"),
        "client_secret",
        detail,
        secret.getBytes(StandardCharsets.US_ASCII),
        null);
  }
}
