package io.pushplanet.gateway.apns;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.alert.DailyAlerts;
import io.pushplanet.gateway.apns.ApnsAnswers.Remedy;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.Credential.Apns;
import io.pushplanet.gateway.credential.Credential.ApnsCertificate;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.RefusalNews;
import io.pushplanet.gateway.http2.ConnectionTarget;
import io.pushplanet.gateway.http2.ProviderConnections;
import io.pushplanet.gateway.provider.CredentialGate;
import io.pushplanet.gateway.provider.CredentialGate.Addressee;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.Remedied;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RecentPayloads;
import io.pushplanet.gateway.provider.Rests;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.time.SteadyClock;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends a message to Apple's devices. One send is one request; a second one follows at once only
/// when APNs faults the provider token or the connection. Thread-safe.
final class ApnsProvider implements Provider {
  private static final Logger LOG = LoggerFactory.getLogger(ApnsProvider.class);

  /// The first rest of a device that got too many messages.
  private static final Duration DEVICE_REST = Duration.ofSeconds(30);

  private static final int TOO_MANY_REQUESTS = 429;
  private static final String CLOSED = "connection closed";
  private static final String RECONNECTED = CLOSED + "; sent again";

  private final ApnsSettings settings;
  private final CredentialCache credentials;
  private final ProviderTokens tokens;
  private final ProviderConnections connections;
  private final Trust trust;
  private final SSLContext withoutCertificate;
  private final Certificates certificates;
  private final RetryWaits waits;
  private final ProviderMetrics metrics;
  private final Rests resting;
  private final ConnectionReplacement replacement;
  private final RefusalNews news;
  private final LostChannels lostChannels;
  private final DailyAlerts alerts;
  private final RecentPayloads<ApnsPayload.MadeOf, ApnsPayload> payloads = new RecentPayloads<>();

  ApnsProvider(
      ApnsSettings settings,
      CredentialCache credentials,
      ProviderTokens tokens,
      ProviderConnections connections,
      RetryWaits waits,
      ProviderMetrics metrics,
      LostChannels lostChannels,
      DailyAlerts alerts) {
    this.settings = settings;
    this.credentials = credentials;
    this.tokens = tokens;
    this.connections = connections;
    this.trust = settings.trust();
    this.withoutCertificate = trust.context();
    this.certificates = new Certificates(trust);
    this.waits = waits;
    this.metrics = metrics;
    Clock steady = new SteadyClock(waits.clock());
    this.resting = Rests.ofDevices(steady, DEVICE_REST);
    this.replacement = new ConnectionReplacement(steady);
    this.news = new RefusalNews(waits.clock());
    this.lostChannels = lostChannels;
    this.alerts = alerts;
  }

  @Override
  public Channel channel() {
    return Channel.APNS;
  }

  @Override
  public DeliveryOutcome send(Push push, Recipient recipient) {
    return metrics.timed(() -> sendUntimed(push, recipient));
  }

  private DeliveryOutcome sendUntimed(Push push, Recipient recipient) {
    ApnsToken token = recipient.apns();
    if (token == null) {
      return new Rejected(0, "no_token");
    }
    if (push.overrides().liveActivity() != null) {
      return sendLiveActivity(push, recipient, token, push.overrides().liveActivity());
    }
    if (!isHexadecimal(token.token())) {
      return new TokenGone(0, "BadDeviceToken", waits.clock().instant(), Evidence.DOUBTED);
    }
    if (ApnsNotification.usesReservedKey(push.content())) {
      return new Rejected(0, "reserved_data_key");
    }
    return CredentialGate.send(
        credentials.apns(push.app(), token.environment()),
        credential -> sendWithCredential(push, recipient, token, credential));
  }

  // Checked by hand, because each notification has a token: a pattern takes a tenth of a request's
  // cost, and a stream takes a hundredth of the worker's time.
  private static boolean isHexadecimal(String token) {
    if (token.isEmpty() || token.length() > ApnsToken.LONGEST_TOKEN || token.length() % 2 != 0) {
      return false;
    }
    for (int index = 0; index < token.length(); index++) {
      if (!HexFormat.isHexDigit(token.charAt(index))) {
        return false;
      }
    }
    return true;
  }

  /// A Live Activity goes to a token of its own, or to a broadcast channel. Apple's answers about
  /// those say nothing about the device's token.
  private DeliveryOutcome sendLiveActivity(
      Push push, Recipient recipient, ApnsToken known, LiveActivity activity) {
    ApnsToken token =
        activity.token() == null
            ? known
            : new ApnsToken(activity.token(), known.environment(), known.registeredAt());
    LiveActivity.BroadcastChannel channel = activity.channel();
    return CredentialGate.send(
        credentials.apns(push.app(), token.environment()),
        channel == null ? Addressee.LIVE_ACTIVITY : Addressee.CHANNEL,
        credential -> {
          if (!(credential instanceof ApnsKey)) {
            return new Rejected(0, "live_activity_needs_a_p8_key");
          }
          return sendWithCredential(push, recipient, token, credential);
        });
  }

  private DeliveryOutcome sendWithCredential(
      Push push, Recipient recipient, ApnsToken token, Apns credential) {
    ApnsPushType type = token.type();
    if (type.needsKey() && credential instanceof ApnsCertificate) {
      return new Rejected(0, type.word() + "_needs_a_p8_key");
    }
    ApnsNotification notification =
        ApnsNotification.of(push, recipient.device(), type, credential.bundleId(), payloads);
    if (notification.payload().length > ApnsNotification.largestBytes(push, type)) {
      return new Rejected(0, "payload_too_large");
    }
    Sending sending = new Sending(push, recipient, token, credential, notification);
    Optional<Duration> rest = resting.rest(addressee(sending));
    if (rest.isPresent()) {
      return new PutOff(0, "device_rest", rest.get());
    }
    return switch (credential) {
      case ApnsKey key -> sendWithToken(sending, key);
      case ApnsCertificate certificate -> sendWithCertificate(sending, certificate);
    };
  }

  private record Sending(
      Push push,
      Recipient recipient,
      ApnsToken token,
      Apns credential,
      ApnsNotification notification) {}

  private DeliveryOutcome sendWithToken(Sending sending, ApnsKey key) {
    Optional<Duration> rest = tokens.rest(key);
    if (rest.isPresent()) {
      return new PutOff(0, "provider_token_rest", rest.get());
    }
    ConnectionTarget target =
        new ConnectionTarget(
            key.teamId() + "/" + key.keyId() + "/" + key.fingerprint(),
            settings.endpoint(sending.token().environment()),
            withoutCertificate);
    ProviderToken proof = tokens.current(key);
    Exchanged first = request(target, sending, proof);
    if (first.reply() instanceof Answered answered) {
      tokens.taken(key, answered.status());
    }
    return switch (remedy(first.reply())) {
      case NONE -> outcome(sending, first);
      case ANOTHER_CONNECTION ->
          remedied(first, RECONNECTED, outcome(sending, request(target, sending, proof)));
      case NEWER_TOKEN ->
          tokens
              .renewed(key, proof)
              .map(another ->
                  remedied(
                      first,
                      "provider token renewed; sent again",
                      outcome(sending, request(target, sending, another))))
              .orElseGet(() -> outcome(sending, first));
      case OLDER_TOKEN -> {
        Duration after = waits.jittered(ProviderTokens.REST);
        boolean rests = tokens.keepOlder(key, proof, after);
        tellOfTooManyTokens(sending, key);
        yield tooManyTokens(after, rests ? "provider token rests" : "older provider token kept");
      }
    };
  }

  private void tellOfTooManyTokens(Sending sending, ApnsKey key) {
    String environment = sending.token().environment();
    alerts.tell(
        Alerts.Kind.PROVIDER_TOKENS_TOO_MANY,
        sending.push().app(),
        environment + "/" + key.keyId(),
        "apns/" + environment,
        "Apple has seen too many new provider tokens of team "
            + key.teamId()
            + " and refuses that of key "
            + key.keyId()
            + ". This happens for up to 20 minutes when a key is new in its team; its messages wait"
            + " and are tried again every 30 seconds. If it happens again, use this team's keys from"
            + " this platform only, at most two of them, and give all workers the same Redis.");
  }

  private void tellOfForeignToken(Sending sending, String reason) {
    String environment = sending.token().environment();
    alerts.tell(
        Alerts.Kind.TOKENS_FOREIGN,
        sending.push().app(),
        environment,
        "apns/" + environment,
        "Apple says that the token of device "
            + sending.recipient().device()
            + " is not for this app's topic, or of another push type ("
            + reason
            + "). Nothing can be sent to it. Compare the bundle id of the credential and the push_type"
            + " with which your backend registers such tokens. Told once a day; the metric"
            + " pushplanet_provider_send counts them all as token_foreign.");
  }

  private static TryAgain tooManyTokens(Duration after, String done) {
    return new TryAgain(TOO_MANY_REQUESTS, "TooManyProviderTokenUpdates", after, false, done);
  }

  private DeliveryOutcome sendWithCertificate(Sending sending, ApnsCertificate certificate) {
    ConnectionTarget target =
        new ConnectionTarget(
            certificate.fingerprint(),
            settings.endpoint(sending.token().environment()),
            certificates.context(certificate));
    Exchanged first = request(target, sending, null);
    return remedy(first.reply()) == Remedy.ANOTHER_CONNECTION
        ? remedied(first, RECONNECTED, outcome(sending, request(target, sending, null)))
        : outcome(sending, first);
  }

  private static DeliveryOutcome remedied(Exchanged first, String remedy, DeliveryOutcome then) {
    return first.reply() instanceof Answered answered
        ? new Remedied(answered.status(), ApnsAnswers.reason(answered), remedy, then)
        : then;
  }

  /// @param closed whether its connection takes no more requests
  private record Exchanged(Reply reply, boolean closed) {}

  private Exchanged request(
      ConnectionTarget target, Sending sending, @Nullable ProviderToken proof) {
    List<Field> headers = new ArrayList<>(sending.notification().headers());
    if (proof != null) {
      headers.add(Field.secret("authorization", "bearer " + proof.jwt()));
    }
    AtomicBoolean closed = new AtomicBoolean();
    Reply reply =
        connections.send(
            target,
            new ProviderRequest(
                sending.push().delivery().priority(),
                path(sending),
                headers,
                sending.notification().payload(),
                sending.push().writeBy()),
            answered -> {
              closed.set(
                  ApnsAnswers.spoilsConnection(answered.status(), ApnsAnswers.reason(answered))
                      || replacement.isWanted(target.credential(), answered.status()));
              return closed.get();
            });
    return new Exchanged(reply, closed.get());
  }

  private static String addressee(Sending sending) {
    LiveActivity activity = sending.push().overrides().liveActivity();
    return activity == null || activity.channel() == null
        ? sending.token().token()
        : activity.channel().id();
  }

  private static String path(Sending sending) {
    LiveActivity activity = sending.push().overrides().liveActivity();
    return activity == null || activity.channel() == null
        ? "/3/device/" + sending.token().token()
        : "/4/broadcasts/apps/" + sending.credential().bundleId();
  }

  private static Remedy remedy(Reply reply) {
    return reply instanceof Answered answered
        ? ApnsAnswers.of(answered.status(), ApnsAnswers.reason(answered)).remedy
        : Remedy.NONE;
  }

  private DeliveryOutcome outcome(Sending sending, Exchanged exchanged) {
    return DeliveryOutcome.of(
        exchanged.reply(), answered -> outcomeOfAnswer(sending, answered, exchanged.closed()));
  }

  private DeliveryOutcome outcomeOfAnswer(Sending sending, Answered answered, boolean closed) {
    int status = answered.status();
    String reason = ApnsAnswers.reason(answered);
    if (reason.equals(LostChannels.NOT_REGISTERED)) {
      doubtChannel(sending);
    }
    return switch (ApnsAnswers.of(status, reason)) {
      case ACCEPTED -> {
        if (!ApnsAnswers.isOfApple(answered)) {
          yield new TryAgain(status, "no_apns_id", null, true);
        }
        resting.taken(addressee(sending));
        yield new Accepted(status, "", ApnsAnswers.id(answered).orElse(null));
      }
      case TOKEN_GONE_NOW ->
          new TokenGone(status, reason, waits.clock().instant(), Evidence.DOUBTED);
      case TOKEN_GONE_SINCE -> new TokenGone(status, reason, since(answered));
      case TOKEN_FOREIGN -> {
        tellOfForeignToken(sending, reason);
        yield new TokenForeign(status, reason);
      }
      case REJECTED -> new Rejected(status, reason.isEmpty() ? "http_" + status : reason);
      case TOPIC_REFUSED -> new Rejected(status, reason, null, Evidence.DOUBTED);
      case CREDENTIAL_FAULT, RENEW_PROVIDER_TOKEN, RECONNECT_OR_CREDENTIAL_FAULT ->
          fault(sending, status, reason);
      case KEEP_OLDER_PROVIDER_TOKEN -> tooManyTokens(waits.jittered(ProviderTokens.REST), CLOSED);
      case RECONNECT -> new TryAgain(status, reason, null, false, CLOSED);
      case DEVICE_BUSY ->
          new TryAgain(
              status,
              reason,
              resting.refused(addressee(sending), waits.asked(answered, reason).orElse(null)),
              false,
              Rests.DEVICE_RESTS);
      case UNAVAILABLE ->
          new TryAgain(
              status,
              reason.isEmpty() ? "http_" + status : reason,
              waits.asked(answered, reason).orElse(null),
              true,
              closed ? CLOSED : null);
    };
  }

  private void doubtChannel(Sending sending) {
    LiveActivity activity = sending.push().overrides().liveActivity();
    if (activity != null && activity.channel() != null) {
      lostChannels.doubt(
          sending.push().app(),
          sending.recipient().device(),
          sending.token().environment(),
          activity.channel().id());
    }
  }

  private DeliveryOutcome fault(Sending sending, int status, String reason) {
    if (news.isNews(sending.push().app(), sending.credential(), reason)) {
      LOG.error(
          "event=apns_credential_refused appId={} messageId={} status={} reason={} credential={}",
          sending.push().app(),
          sending.push().id(),
          status,
          reason,
          sending.credential());
    }
    return new CredentialFault(status, reason.isEmpty() ? "http_" + status : reason);
  }

  private Instant since(Answered answered) {
    long millis = ApnsAnswers.body(answered).path("timestamp").asLong(0);
    return millis > 0 ? Instant.ofEpochMilli(millis) : waits.clock().instant();
  }
}
