package io.pushplanet.simulators.hms;

import java.util.regex.Pattern;

/// An app as Huawei knows it.
///
/// @param clientId its OAuth 2.0 client id, which is its app id too
/// @param urgent whether it may send with urgency HIGH, which Huawei grants on application
public record HmsClient(String clientId, String secret, boolean urgent) {
  /// https://developer.huawei.com/consumer/en/doc/doccenter-references/api/account-server-error-code/
  static final Pattern ID = Pattern.compile("[0-9]{1,64}");

  public HmsClient {
    if (!ID.matcher(clientId).matches() || secret.isEmpty()) {
      throw new IllegalArgumentException("client_id is 1 to 64 digits, client_secret not empty");
    }
  }

  @Override
  public String toString() {
    return "HmsClient[" + clientId + "]";
  }
}
