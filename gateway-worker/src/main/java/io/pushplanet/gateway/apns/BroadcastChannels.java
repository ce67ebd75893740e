package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.provider.RetryWaits;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// Creates, finds and deletes broadcast channels at Apple
/// (https://developer.apple.com/documentation/usernotifications/sending-channel-management-requests-to-apns).
/// Thread-safe; calls block, at most for a request's deadline.
final class BroadcastChannels {
  private static final String CHANNEL = "apns-channel-id";
  private static final String TOKEN_RESTS = "provider_token_rest";

  /// The wait when Apple asks for none.
  static final Duration REST = Duration.ofSeconds(10);

  /// Reasons that mean that a deletion is not needed any more.
  private static final Set<String> NOT_THERE = Set.of(LostChannels.NOT_REGISTERED, "BadChannelId");

  private final ApnsSettings settings;
  private final ProviderTokens tokens;
  private final RetryWaits waits;
  private final LiveRequest requests;

  /// Apple's answer to a request.
  sealed interface Answer {
    /// @param id Apple's
    /// @param bundleId of the app whose channel it is
    record Made(String id, String bundleId) implements Answer {}

    /// There is no such channel, or no longer.
    record Gone() implements Answer {}

    /// Apple will not do it, however often it is asked.
    record Refused(String reason) implements Answer {}

    /// No answer, or not now.
    record NotNow(String reason, Duration after) implements Answer {}
  }

  BroadcastChannels(ApnsSettings settings, ProviderTokens tokens, RetryWaits waits) {
    this.settings = settings;
    this.tokens = tokens;
    this.waits = waits;
    this.requests = new LiveRequest(settings.trust().context());
  }

  /// @param keepsNewest whether Apple keeps the newest message for devices that are away
  Answer make(ApnsKey key, String environment, boolean keepsNewest) {
    byte[] body =
        "{\"message-storage-policy\":%d,\"push-type\":\"LiveActivity\"}"
            .formatted(keepsNewest ? 1 : 0)
            .getBytes(StandardCharsets.US_ASCII);
    Optional<Duration> rest = tokens.rest(key);
    if (rest.isPresent()) {
      return new Answer.NotNow(TOKEN_RESTS, rest.get());
    }
    ProviderToken proof = tokens.current(key);
    try {
      Answered answered =
          requests.post(
              channels(key, environment),
              headers(proof, Map.of("content-type", "application/json")),
              body,
              settings.connection().requestTimeout());
      tokens.taken(key, answered.status());
      Optional<String> id = answered.header(CHANNEL);
      return answered.status() / 100 == 2 && id.isPresent()
          ? new Answer.Made(id.get(), key.bundleId())
          : otherwise(key, proof, answered);
    } catch (IOException e) {
      return new Answer.NotNow("no_answer", waits.jittered(REST));
    }
  }

  /// @param id Apple's
  Answer delete(ApnsKey key, String environment, String id) {
    Optional<Duration> rest = tokens.rest(key);
    if (rest.isPresent()) {
      return new Answer.NotNow(TOKEN_RESTS, rest.get());
    }
    ProviderToken proof = tokens.current(key);
    try {
      Answered answered =
          requests.delete(
              channels(key, environment),
              headers(proof, Map.of(CHANNEL, id)),
              settings.connection().requestTimeout());
      tokens.taken(key, answered.status());
      return answered.status() / 100 == 2 || NOT_THERE.contains(ApnsAnswers.reason(answered))
          ? new Answer.Gone()
          : otherwise(key, proof, answered);
    } catch (IOException e) {
      return new Answer.NotNow("no_answer", waits.jittered(REST));
    }
  }

  /// Whether Apple says that it has no such channel. False when it says anything else, or nothing.
  ///
  /// @param id Apple's
  boolean isUnknown(ApnsKey key, String environment, String id) {
    if (tokens.rest(key).isPresent()) {
      return false;
    }
    try {
      Answered answered =
          requests.get(
              channels(key, environment),
              headers(tokens.current(key), Map.of(CHANNEL, id)),
              settings.connection().requestTimeout());
      tokens.taken(key, answered.status());
      return ApnsAnswers.reason(answered).equals(LostChannels.NOT_REGISTERED);
    } catch (IOException e) {
      return false;
    }
  }

  private URI channels(ApnsKey key, String environment) {
    return settings
        .channelsEndpoint(environment)
        .resolve("/1/apps/" + key.bundleId() + "/channels");
  }

  private static Map<String, String> headers(ProviderToken proof, Map<String, String> more) {
    Map<String, String> headers = new HashMap<>(more);
    headers.put("authorization", "bearer " + proof.jwt());
    return headers;
  }

  private Answer otherwise(ApnsKey key, ProviderToken proof, Answered answered) {
    String said = ApnsAnswers.reason(answered);
    String reason = said.isEmpty() ? "http_" + answered.status() : said;
    return switch (ApnsAnswers.of(answered.status(), said)) {
      case RENEW_PROVIDER_TOKEN -> {
        tokens.renewed(key, proof);
        yield new Answer.NotNow(reason, waits.jittered(REST));
      }
      case KEEP_OLDER_PROVIDER_TOKEN -> {
        tokens.keepOlder(key, proof, waits.jittered(ProviderTokens.REST));
        yield new Answer.NotNow(reason, waits.jittered(REST));
      }
      case DEVICE_BUSY, UNAVAILABLE, RECONNECT ->
          new Answer.NotNow(reason, waits.askedOr(answered, said, REST));
      // A good answer without the channel's id counts as none.
      case ACCEPTED -> new Answer.NotNow("no_channel_id", waits.jittered(REST));
      case REJECTED,
          TOPIC_REFUSED,
          CREDENTIAL_FAULT,
          RECONNECT_OR_CREDENTIAL_FAULT,
          TOKEN_FOREIGN,
          TOKEN_GONE_NOW,
          TOKEN_GONE_SINCE ->
          new Answer.Refused(reason);
    };
  }
}
