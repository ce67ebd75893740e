package io.pushplanet.gateway.webpush;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// What push services' answers mean to us, as a table
/// (https://www.rfc-editor.org/rfc/rfc8030#section-5,
/// https://www.rfc-editor.org/rfc/rfc8292#section-4.2,
/// https://mozilla-services.github.io/autopush-rs/errors.html,
/// https://learn.microsoft.com/en-us/windows/apps/design/shell/tiles-and-notifications/push-request-response-headers).
/// Only the status counts: each service has words of its own.
final class WebPushAnswers {
  enum Meaning {
    ACCEPTED,
    SUBSCRIPTION_GONE,
    REJECTED,
    CREDENTIAL_FAULT,
    /// Too many messages for this push service or this subscription.
    BUSY,
    UNAVAILABLE
  }

  record Row(int status, Meaning meaning) {}

  static final List<Row> ROWS =
      List.of(
          new Row(200, Meaning.ACCEPTED),
          new Row(201, Meaning.ACCEPTED),
          new Row(202, Meaning.ACCEPTED),
          new Row(204, Meaning.ACCEPTED),
          new Row(400, Meaning.CREDENTIAL_FAULT),
          new Row(401, Meaning.CREDENTIAL_FAULT),
          new Row(403, Meaning.CREDENTIAL_FAULT),
          new Row(404, Meaning.SUBSCRIPTION_GONE),
          // Edge's word for 429.
          new Row(406, Meaning.BUSY),
          // The service did not get the whole request in time.
          new Row(408, Meaning.UNAVAILABLE),
          new Row(410, Meaning.SUBSCRIPTION_GONE),
          new Row(413, Meaning.REJECTED),
          new Row(429, Meaning.BUSY),
          new Row(500, Meaning.UNAVAILABLE),
          new Row(502, Meaning.UNAVAILABLE),
          new Row(503, Meaning.UNAVAILABLE),
          new Row(504, Meaning.UNAVAILABLE));

  private static final Map<Integer, Meaning> MEANINGS =
      ROWS.stream().collect(Collectors.toUnmodifiableMap(Row::status, Row::meaning));

  private WebPushAnswers() {}

  /// Redirects are not followed: they would bypass the check of the address.
  static Meaning of(int status) {
    Meaning known = MEANINGS.get(status);
    if (known != null) {
      return known;
    }
    return status >= 500 ? Meaning.UNAVAILABLE : Meaning.REJECTED;
  }
}
