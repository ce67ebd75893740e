package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.connection.Reply.Answered;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/// What APNs' answers mean to us, as a table
/// (https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns).
final class ApnsAnswers {
  private static final JsonMapper JSON = JsonMapper.shared();

  /// Which second request may succeed at once.
  enum Remedy {
    NONE,
    ANOTHER_CONNECTION,
    NEWER_TOKEN,
    /// Not at once, but later with the token that APNs knew before.
    OLDER_TOKEN
  }

  enum Meaning {
    ACCEPTED,
    /// The token is dead, or of the other environment. Apple does not say since when.
    TOKEN_GONE_NOW,
    /// The token is dead since the `timestamp` of the answer.
    TOKEN_GONE_SINCE,
    TOKEN_FOREIGN,
    /// Our bug or the caller's input.
    REJECTED,
    /// The credential may not send to the topic: its own fault, or that of the push type.
    TOPIC_REFUSED,
    CREDENTIAL_FAULT,
    RENEW_PROVIDER_TOKEN(Remedy.NEWER_TOKEN),
    KEEP_OLDER_PROVIDER_TOKEN(Remedy.OLDER_TOKEN),
    /// The connection is at fault: once more on another.
    RECONNECT(Remedy.ANOTHER_CONNECTION),
    /// Like RECONNECT; when the answer comes again, the credential is at fault.
    RECONNECT_OR_CREDENTIAL_FAULT(Remedy.ANOTHER_CONNECTION),
    /// This device gets too many messages.
    DEVICE_BUSY,
    UNAVAILABLE;

    final Remedy remedy;

    Meaning() {
      this(Remedy.NONE);
    }

    Meaning(Remedy remedy) {
      this.remedy = remedy;
    }
  }

  record Row(int status, String reason, Meaning meaning) {}

  private record Answer(int status, String reason) {}

  static final List<Row> ROWS =
      List.of(
          new Row(200, "", Meaning.ACCEPTED),
          new Row(400, "BadDeviceToken", Meaning.TOKEN_GONE_NOW),
          new Row(400, "DeviceTokenNotForTopic", Meaning.TOKEN_FOREIGN),
          new Row(400, "BadTopic", Meaning.REJECTED),
          new Row(400, "MissingTopic", Meaning.REJECTED),
          new Row(400, "TopicDisallowed", Meaning.TOPIC_REFUSED),
          new Row(400, "InvalidPushType", Meaning.REJECTED),
          new Row(400, "BadPriority", Meaning.REJECTED),
          new Row(400, "BadExpirationDate", Meaning.REJECTED),
          new Row(400, "BadCollapseId", Meaning.REJECTED),
          new Row(400, "BadMessageId", Meaning.REJECTED),
          new Row(400, "DuplicateHeaders", Meaning.REJECTED),
          new Row(400, "PayloadEmpty", Meaning.REJECTED),
          new Row(400, "MissingDeviceToken", Meaning.REJECTED),
          new Row(400, "IdleTimeout", Meaning.RECONNECT),
          new Row(403, "ExpiredProviderToken", Meaning.RENEW_PROVIDER_TOKEN),
          new Row(403, "InvalidProviderToken", Meaning.CREDENTIAL_FAULT),
          new Row(403, "MissingProviderToken", Meaning.CREDENTIAL_FAULT),
          new Row(403, "BadEnvironmentKeyIdInToken", Meaning.CREDENTIAL_FAULT),
          new Row(403, "UnrelatedKeyIdInToken", Meaning.RECONNECT_OR_CREDENTIAL_FAULT),
          new Row(403, "BadCertificate", Meaning.CREDENTIAL_FAULT),
          new Row(403, "BadCertificateEnvironment", Meaning.CREDENTIAL_FAULT),
          new Row(403, "Forbidden", Meaning.CREDENTIAL_FAULT),
          new Row(404, "BadPath", Meaning.REJECTED),
          new Row(405, "MethodNotAllowed", Meaning.REJECTED),
          new Row(410, "Unregistered", Meaning.TOKEN_GONE_SINCE),
          new Row(410, "ExpiredToken", Meaning.TOKEN_GONE_SINCE),
          new Row(413, "PayloadTooLarge", Meaning.REJECTED),
          new Row(429, "TooManyRequests", Meaning.DEVICE_BUSY),
          new Row(429, "TooManyProviderTokenUpdates", Meaning.KEEP_OLDER_PROVIDER_TOKEN),
          new Row(500, "InternalServerError", Meaning.UNAVAILABLE),
          new Row(503, "ServiceUnavailable", Meaning.UNAVAILABLE),
          new Row(503, "Shutdown", Meaning.UNAVAILABLE));

  private static final Map<Answer, Meaning> MEANINGS =
      ROWS.stream()
          .collect(
              Collectors.toUnmodifiableMap(
                  ((Function<Row, Answer>) row -> new Answer(row.status(), row.reason())),
                  Row::meaning));

  /// Reasons about broadcast channels. Apple lists them without their statuses
  /// (https://developer.apple.com/documentation/usernotifications/handling-error-responses-from-apns).
  /// None is a fault of the credential.
  private static final Set<String> OF_CHANNELS =
      Set.of(
          "BadChannelId",
          "CannotCreateChannelConfig",
          "ChannelNotRegistered",
          "FeatureNotEnabled",
          "MissingChannelId",
          "MissingPushType",
          "TopicMismatch");

  private ApnsAnswers() {}

  /// A reason that Apple has added since is judged by its status, and never costs a token. A
  /// refusal without a reason comes not from Apple but from a proxy between us, and says nothing
  /// about the credential.
  static Meaning of(int status, String reason) {
    Meaning known = MEANINGS.get(new Answer(status, status == 200 ? "" : reason));
    if (known != null) {
      return known;
    }
    if (OF_CHANNELS.contains(reason) && status >= 400 && status < 500) {
      return Meaning.REJECTED;
    }
    if (status == 401 || status == 403) {
      return reason.isEmpty() ? Meaning.UNAVAILABLE : Meaning.CREDENTIAL_FAULT;
    }
    if (status == 429) {
      return Meaning.DEVICE_BUSY;
    }
    return status >= 400 && status < 500 ? Meaning.REJECTED : Meaning.UNAVAILABLE;
  }

  /// Whether a 200 comes from Apple: then it has an id and no body. A proxy between us may answer
  /// 200 to anything, with a page.
  static boolean isOfApple(Answered ok) {
    return ok.body().length == 0 || id(ok).isPresent();
  }

  /// Apple's id for a notification, or for one to a broadcast channel.
  static Optional<String> id(Answered answered) {
    return answered.header("apns-id").or(() -> answered.header("apns-request-id"));
  }

  /// Apple's reason, empty when there is none.
  static String reason(Answered answered) {
    return body(answered).path("reason").asString("");
  }

  /// A proxy between us and Apple may answer in HTML.
  static JsonNode body(Answered answered) {
    try {
      return answered.body().length == 0
          ? MissingNode.getInstance()
          : JSON.readTree(answered.body());
    } catch (JacksonException e) {
      return MissingNode.getInstance();
    }
  }

  /// After these answers APNs no longer serves the connection.
  static boolean spoilsConnection(int status, String reason) {
    Meaning meaning = of(status, reason);
    return meaning.remedy != Remedy.NONE
        || (meaning == Meaning.UNAVAILABLE && reason.equals("Shutdown"));
  }
}
