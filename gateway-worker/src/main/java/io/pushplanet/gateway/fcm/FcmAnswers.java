package io.pushplanet.gateway.fcm;

import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/// What FCM's answers mean to us, as a table
/// (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
final class FcmAnswers {
  enum Meaning {
    ACCEPTED,
    TOKEN_GONE,
    /// The token is at fault if the answer names the token's field, otherwise the caller.
    TOKEN_GONE_IF_NAMED,
    TOKEN_FOREIGN,
    REJECTED,
    CREDENTIAL_FAULT,
    /// The credential is at fault, or the token.
    TOKEN_OR_CREDENTIAL_FAULT,
    /// Our credential is good: the key for Apple's service or a browser's, which lies in the
    /// Firebase project, is refused.
    OTHER_CREDENTIAL_FAULT,
    RENEW_ACCESS_TOKEN,
    QUOTA,
    UNAVAILABLE
  }

  /// @param code `details[].errorCode`, else the error's `status`, else ""
  record Row(int status, String code, Meaning meaning) {}

  private record Answer(int status, String code) {}

  static final List<Row> ROWS =
      List.of(
          new Row(200, "", Meaning.ACCEPTED),
          new Row(400, "INVALID_ARGUMENT", Meaning.TOKEN_GONE_IF_NAMED),
          new Row(401, "THIRD_PARTY_AUTH_ERROR", Meaning.OTHER_CREDENTIAL_FAULT),
          new Row(401, "UNAUTHENTICATED", Meaning.RENEW_ACCESS_TOKEN),
          new Row(403, "SENDER_ID_MISMATCH", Meaning.TOKEN_FOREIGN),
          new Row(403, "PERMISSION_DENIED", Meaning.CREDENTIAL_FAULT),
          new Row(404, "UNREGISTERED", Meaning.TOKEN_GONE),
          // Without a code of FCM's, the project is wrong or the token is gone: Google's own
          // library reads it as the latter
          // (https://github.com/firebase/firebase-admin-node/pull/218). One such answer alone
          // proves nothing.
          new Row(404, "NOT_FOUND", Meaning.TOKEN_OR_CREDENTIAL_FAULT),
          new Row(429, "QUOTA_EXCEEDED", Meaning.QUOTA),
          new Row(429, "RESOURCE_EXHAUSTED", Meaning.QUOTA),
          new Row(500, "INTERNAL", Meaning.UNAVAILABLE),
          new Row(503, "UNAVAILABLE", Meaning.UNAVAILABLE));

  private static final Map<Answer, Meaning> MEANINGS =
      ROWS.stream()
          .collect(
              Collectors.toUnmodifiableMap(
                  ((Function<Row, Answer>) row -> new Answer(row.status(), row.code())),
                  Row::meaning));

  private FcmAnswers() {}

  /// An answer that is not in the table (an HTML page, an empty body, a new code) is judged by its
  /// status. It never costs a token, and a 404 without `UNREGISTERED` means a wrong project or
  /// path. A refusal without a code comes not from Google but from a proxy between us, and says
  /// nothing about the credential.
  static Meaning of(int status, String code) {
    Meaning known = MEANINGS.get(new Answer(status, status == 200 ? "" : code));
    if (known != null) {
      return known;
    }
    if (code.isEmpty() && (status == 401 || status == 403 || status == 404)) {
      return Meaning.UNAVAILABLE;
    }
    return switch (status) {
      case 401 -> Meaning.RENEW_ACCESS_TOKEN;
      case 403, 404 -> Meaning.CREDENTIAL_FAULT;
      // FCM did not get the whole request in time.
      case 408 -> Meaning.UNAVAILABLE;
      case 429 -> Meaning.QUOTA;
      default -> status >= 400 && status < 500 ? Meaning.REJECTED : Meaning.UNAVAILABLE;
    };
  }
}
