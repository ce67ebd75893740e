package io.pushplanet.gateway.hms;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// What Push Kit's answers mean to us, as a table
/// (https://developer.huawei.com/consumer/en/doc/HMSCore-References/https-send-api-0000001050986197).
/// The code says more than the status that comes with it.
final class HmsAnswers {
  static final String PARTIAL = "80100000";

  enum Meaning {
    ACCEPTED,
    /// The illegal tokens get nothing, the others the message.
    PARTLY_ACCEPTED,
    TOKENS_ILLEGAL,
    REJECTED,
    /// The message is at fault, or one of the tokens. A request with fewer of them shows which.
    REJECTED_TOGETHER,
    NOT_URGENT,
    CREDENTIAL_FAULT,
    RENEW_ACCESS_TOKEN,
    FLOW_CONTROL,
    LATER,
    INTERNAL
  }

  record Row(String code, Meaning meaning) {}

  static final List<Row> ROWS =
      List.of(
          new Row("80000000", Meaning.ACCEPTED),
          new Row(PARTIAL, Meaning.PARTLY_ACCEPTED),
          // A parameter; it does not say which.
          new Row("80100001", Meaning.REJECTED_TOGETHER),
          // The message's structure, its ttl, its collapse key.
          new Row("80100003", Meaning.REJECTED),
          new Row("80100004", Meaning.REJECTED),
          new Row("80100013", Meaning.REJECTED),
          // Sensitive words; too many messages to topics at once; a text that differs from the
          // reviewed one.
          new Row("80100016", Meaning.REJECTED),
          new Row("80100017", Meaning.LATER),
          new Row("80100018", Meaning.REJECTED),
          // The access token is wrong, has ended, or is a JWT that has ended.
          new Row("80200001", Meaning.RENEW_ACCESS_TOKEN),
          new Row("80200003", Meaning.RENEW_ACCESS_TOKEN),
          new Row("80200005", Meaning.RENEW_ACCESS_TOKEN),
          // The app may not send.
          new Row("80300002", Meaning.CREDENTIAL_FAULT),
          new Row("80300007", Meaning.TOKENS_ILLEGAL),
          new Row("80300008", Meaning.REJECTED),
          // More tokens than Push Kit accepts at the moment.
          new Row("80300010", Meaning.REJECTED_TOGETHER),
          new Row("80300011", Meaning.NOT_URGENT),
          // The address for receipts.
          new Row("80300013", Meaning.REJECTED),
          // Its OAuth server does not answer it.
          new Row("80600003", Meaning.LATER),
          new Row("81000001", Meaning.INTERNAL),
          // Not in the reference; senders report them.
          new Row("82000001", Meaning.INTERNAL));

  private static final Map<String, Meaning> MEANINGS =
      ROWS.stream().collect(Collectors.toUnmodifiableMap(Row::code, Row::meaning));

  private HmsAnswers() {}

  /// An answer that is not in the table (an HTML page, an empty body, a new code) is judged by its
  /// status: it never costs a token, and never counts as accepted. A refusal without a code comes
  /// not from Huawei but from a proxy between us, and says nothing about the credential.
  static Meaning of(int status, String code) {
    Meaning known = MEANINGS.get(code);
    if (known != null) {
      return known;
    }
    if (code.isEmpty() && (status == 401 || status == 403 || status == 404)) {
      return Meaning.INTERNAL;
    }
    return switch (status) {
      case 401 -> Meaning.RENEW_ACCESS_TOKEN;
      case 403, 404 -> Meaning.CREDENTIAL_FAULT;
      // Push Kit did not get the whole request in time.
      case 408 -> Meaning.INTERNAL;
      case 429, 503 -> Meaning.FLOW_CONTROL;
      default -> status >= 400 && status < 500 ? Meaning.REJECTED_TOGETHER : Meaning.INTERNAL;
    };
  }
}
