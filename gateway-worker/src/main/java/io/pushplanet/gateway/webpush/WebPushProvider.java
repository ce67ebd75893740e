package io.pushplanet.gateway.webpush;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.message.target.WebPushSubscription;
import io.pushplanet.gateway.connection.HttpPool;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.VapidKey;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.provider.CredentialGate;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.webpush.Destinations.Destination;
import java.net.InetAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Sends a message to browsers by the push services that they chose. One send is one request.
/// Thread-safe.
final class WebPushProvider implements Provider {
  /// The rest when a busy push service does not say for how long.
  private static final Duration BUSY_REST = Duration.ofSeconds(60);

  /// The standard gives answers no body of the push services' own
  /// (https://www.rfc-editor.org/rfc/rfc8030#section-5), so any wait may be a proxy's.
  private static final String NO_WORD = "";

  /// The wait before the next try when a look-up or a request found no room.
  private static final Duration NEXT_TURN = Duration.ofSeconds(5);

  private final CredentialCache credentials;
  private final Destinations destinations;
  private final RestingHosts resting;
  private final VapidTokens tokens;
  private final Encryption encryption;
  private final RequestLimits limits;
  private final HttpPool services;
  private final RetryWaits waits;
  private final ProviderMetrics metrics;

  WebPushProvider(
      CredentialCache credentials,
      Destinations destinations,
      RestingHosts resting,
      VapidTokens tokens,
      Encryption encryption,
      RequestLimits limits,
      HttpPool services,
      RetryWaits waits,
      ProviderMetrics metrics) {
    this.credentials = credentials;
    this.destinations = destinations;
    this.resting = resting;
    this.tokens = tokens;
    this.encryption = encryption;
    this.limits = limits;
    this.services = services;
    this.waits = waits;
    this.metrics = metrics;
  }

  @Override
  public Channel channel() {
    return Channel.WEBPUSH;
  }

  @Override
  public int mostAtOnce() {
    return services.connections();
  }

  @Override
  public DeliveryOutcome send(Push push, Recipient recipient) {
    return metrics.timed(() -> sendUntimed(push, recipient));
  }

  private DeliveryOutcome sendUntimed(Push push, Recipient recipient) {
    WebPushSubscription subscription = recipient.webpush();
    if (subscription == null) {
      return new Rejected(0, "no_token");
    }
    BrowserSubscription browser;
    try {
      browser = BrowserSubscription.parse(subscription.json());
    } catch (IllegalArgumentException e) {
      return new Rejected(0, "malformed_subscription");
    }
    return CredentialGate.send(
        credentials.webPush(push.app()), key -> sendWithCredential(push, browser, key));
  }

  private DeliveryOutcome sendWithCredential(Push push, BrowserSubscription browser, VapidKey key) {
    Optional<Duration> rest = resting.rest(browser.origin());
    if (rest.isPresent()) {
      return new PutOff(0, "push_service_rests", rest.get());
    }
    return switch (destinations.find(push.app(), browser)) {
      case Destination.Refused(String why) -> new Rejected(0, why);
      case Destination.Unknown(String why) -> {
        resting.failed(browser.origin());
        yield new TryAgain(0, why, null, false);
      }
      case Destination.NotNow(String why) -> new PutOff(0, why, NEXT_TURN);
      case Destination.Allowed(List<InetAddress> addresses) ->
          limits
              .take(
                  browser.origin(),
                  push.delivery().priority(),
                  () -> request(push, browser, key, addresses))
              .orElseGet(() -> new PutOff(0, "busy", NEXT_TURN));
    };
  }

  private DeliveryOutcome request(
      Push push, BrowserSubscription browser, VapidKey key, List<InetAddress> addresses) {
    Instant now = waits.clock().instant();
    WebPushMessage message = WebPushMessage.of(push, now);
    if (message.text().length > WebPushSubscription.LARGEST_MESSAGE_BYTES) {
      return new Rejected(0, "payload_too_large");
    }
    List<Field> headers = new ArrayList<>(message.headers());
    headers.add(Field.of("content-type", "application/octet-stream"));
    headers.add(Field.of("content-encoding", "aes128gcm"));
    headers.add(Field.secret("authorization", tokens.authorization(key, browser.origin())));
    Reply reply =
        services.post(
            new HttpPool.Target(
                browser.host(), browser.port(), browser.target(), addresses, push.attempt()),
            headers,
            encryption.seal(message.text(), browser),
            push.writeBy());
    told(browser, reply);
    return DeliveryOutcome.of(reply, answered -> outcomeOfAnswer(answered, now));
  }

  private void told(BrowserSubscription browser, Reply reply) {
    switch (reply) {
      case Answered _ -> resting.answered(browser.origin());
      case Reply.NotSent _, Reply.NoAnswer _ -> resting.failed(browser.origin());
      case Reply.Expired() -> {}
    }
  }

  /// @param askedAt a subscription that was registered later is not the one that is gone
  private DeliveryOutcome outcomeOfAnswer(Answered answered, Instant askedAt) {
    int status = answered.status();
    String reason = "http_" + status;
    return switch (WebPushAnswers.of(status)) {
      case ACCEPTED -> new Accepted(status, "", answered.header("location").orElse(null));
      case SUBSCRIPTION_GONE -> new TokenGone(status, reason, askedAt);
      case REJECTED -> new Rejected(status, reason);
      case BUSY -> new TryAgain(status, reason, waits.askedOr(answered, NO_WORD, BUSY_REST), false);
      case UNAVAILABLE ->
          new TryAgain(status, reason, waits.asked(answered, NO_WORD).orElse(null), true);
      // A push service does not say whether it refuses the key or only this subscription. Not
      // logged: the caller that registers a device names the push service, which could answer so
      // to each message.
      case CREDENTIAL_FAULT -> new CredentialFault(status, reason, null, null, Evidence.DOUBTED);
    };
  }
}
