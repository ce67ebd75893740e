package io.pushplanet.dashboard.credential;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The meaning of the providers' error codes, for the owner of the credential
/// (https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns,
/// https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode,
/// https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
final class Advice {
  private static final Map<String, String> ON = new LinkedHashMap<>();

  static {
    ON.put(
        "for nearly every device",
        "Nearly every device gets this answer. Are the keys of sandbox and production, or of two projects, swapped?");
    ON.put(
        "InvalidProviderToken",
        "Apple does not know this key: it was revoked, or the team id or key id does not belong to the file.");
    ON.put(
        "MissingProviderToken",
        "Apple did not issue this certificate: it is self-signed or from another authority. Export the push certificate that Apple issued, with its private key.");
    ON.put(
        "BadEnvironmentKeyIdInToken",
        "The key is for the other environment: choose production or sandbox as in your Apple developer account.");
    ON.put(
        "UnrelatedKeyIdInToken",
        "The key does not belong to the team of this connection. Check the team id.");
    ON.put(
        "BadCertificateEnvironment",
        "The certificate is for the other environment: choose production or sandbox as it was made.");
    ON.put(
        "BadCertificate", "Apple does not accept this certificate: it was revoked or has expired.");
    ON.put(
        "TopicDisallowed",
        "This credential may not send to this bundle id. Check the bundle id and the key's restrictions.");
    ON.put("BadTopic", "This is not the bundle id of an app.");
    for (String tooMany : List.of("TooManyProviderTokenUpdates", "provider token rests")) {
      ON.put(
          tooMany,
          "Apple accepts a new token of a team every 20 minutes, whichever of its keys signed it, so a second key of the team may have to wait as long. The active credential, if there is one, goes on sending.");
    }
    ON.put("Forbidden", "Apple refuses this credential.");
    ON.put(
        "invalid_grant",
        "Google does not accept the service account's key: it was deleted, the account was disabled, or a worker's clock is wrong.");
    ON.put(
        "PERMISSION_DENIED",
        "The service account may not send for this project. Give it the role Firebase Cloud Messaging API Admin, and enable that API.");
    ON.put(
        "SENDER_ID_MISMATCH",
        "The devices belong to another Firebase project than this service account.");
    ON.put(
        "THIRD_PARTY_AUTH_ERROR",
        "The APNs key or web push certificate in the Firebase console is missing or wrong.");
    ON.put("NOT_FOUND", "Google knows no such project.");
    ON.put("UNAUTHENTICATED", "Google does not accept the service account's access token.");
    ON.put(
        "1101/",
        "Huawei does not accept the client id or the client secret. Copy both from AppGallery Connect, Project settings.");
    ON.put(
        "80200001",
        "Huawei does not accept the access token for this app: the client id is another app's.");
    ON.put(
        "80300002",
        "This app may not send: enable Push Kit for it in AppGallery Connect, also for the countries you send to.");
    ON.put(
        "does not open with",
        "The stored credential was sealed with another master key. Set pushplanet.former-master-keys, or upload it again.");
  }

  private Advice() {}

  static String on(@Nullable String reason) {
    if (reason == null) {
      return "";
    }
    return ON.entrySet().stream()
        .filter(word -> reason.contains(word.getKey()))
        .map(Map.Entry::getValue)
        .findFirst()
        .orElse("");
  }
}
