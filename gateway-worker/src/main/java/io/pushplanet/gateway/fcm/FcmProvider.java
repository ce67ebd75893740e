package io.pushplanet.gateway.fcm;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.connection.ConnectionTarget;
import io.pushplanet.gateway.connection.ProviderConnections;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.fcm.FcmAnswers.Meaning;
import io.pushplanet.gateway.oauth.AccessTokens;
import io.pushplanet.gateway.oauth.Grant;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Deferred;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.Remedied;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.Sends;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Brings a message to devices that use Firebase. One send is one request; a second one follows at once only where FCM wants
/// a newer access token. Thread-safe.
final class FcmProvider implements Provider {
  private static final Logger LOG = LoggerFactory.getLogger(FcmProvider.class);

  /// Without a Retry-After, Google asks for 60 seconds after a 429 and 10 or more after a 500
  /// (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
  private static final Duration QUOTA_REST = Duration.ofSeconds(60);

  private static final Duration INTERNAL_REST = Duration.ofSeconds(10);

  private final FcmSettings settings;
  private final CredentialCache credentials;
  private final AccessTokens<FcmServiceAccount> tokens;
  private final ProviderConnections connections;
  private final SSLContext tls;
  private final Sends sends;
  private final ProviderMetrics metrics;
  private final ProjectPaces paces;
  private final QuarterHours quarterHours;
  private final PaceMetrics paceMetrics;

  FcmProvider(
      FcmSettings settings,
      CredentialCache credentials,
      AccessTokens<FcmServiceAccount> tokens,
      ProviderConnections connections,
      SSLContext tls,
      Sends sends,
      ProviderMetrics metrics,
      ProjectPaces paces,
      QuarterHours quarterHours,
      PaceMetrics paceMetrics) {
    this.settings = settings;
    this.credentials = credentials;
    this.tokens = tokens;
    this.connections = connections;
    this.tls = tls;
    this.sends = sends;
    this.metrics = metrics;
    this.paces = paces;
    this.quarterHours = quarterHours;
    this.paceMetrics = paceMetrics;
  }

  @Override
  public Channel channel() {
    return Channel.FCM;
  }

  @Override
  public DeliveryOutcome send(Push push, Recipient recipient) {
    return metrics.timed(() -> sent(push, recipient));
  }

  private DeliveryOutcome sent(Push push, Recipient recipient) {
    FcmToken token = recipient.fcm();
    if (token == null) {
      return new Rejected(0, "no_token");
    }
    if (push.overrides().liveActivity() != null) {
      return new Rejected(0, "live_activity_needs_apns");
    }
    return sends.with(credentials.fcm(push.app()), account -> sent(push, token, account));
  }

  /// About the quarters of the hour, and while others wait for the project's pace.
  @Override
  public Optional<DeliveryOutcome> putOff(Push push) {
    Optional<ProjectPace> pace = pace(push);
    if (pace.isEmpty()) {
      return Optional.empty();
    }
    Optional<Duration> bulkRests = quarterHours.wait(push);
    if (bulkRests.isPresent()) {
      paceMetrics.putOff();
      return bulkRests.map(wait -> new PutOff(0, "quarter_hour", wait));
    }
    return pace.get()
        .putOff(push.delivery().priority(), push.cameBack())
        .map(FcmProvider::projectRests);
  }

  /// The project's pace.
  @Override
  public Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
    Optional<DeliveryOutcome> putOff = putOff(push);
    Optional<ProjectPace> pace = pace(push);
    if (putOff.isPresent() || pace.isEmpty()) {
      return putOff;
    }
    return switch (pace.get().turn(push.delivery().priority(), push.cameBack())) {
      case ProjectPace.Turn.Rest(Duration wait) -> Optional.of(projectRests(wait));
      case ProjectPace.Turn.After(Duration wait) -> {
        if (!wait.isZero()) {
          TimeUnit.NANOSECONDS.sleep(wait.toNanos());
        }
        yield Optional.empty();
      }
    };
  }

  /// Empty without a credential: sending says what is wrong.
  private Optional<ProjectPace> pace(Push push) {
    return credentials.fcm(push.app())
            instanceof CredentialLookup.Found<FcmServiceAccount>(FcmServiceAccount account, var _)
        ? Optional.of(paces.of(account.projectId()))
        : Optional.empty();
  }

  private static DeliveryOutcome projectRests(Duration wait) {
    return new PutOff(0, "project_quota_rest", wait);
  }

  private DeliveryOutcome sent(Push push, FcmToken token, FcmServiceAccount account) {
    return switch (tokens.current(account)) {
      case Grant.Refused refused -> refused(push, refused);
      case Grant.Unavailable(String why) -> new Deferred(0, why, null, false);
      case Grant.Granted granted -> sent(push, token, account, granted);
    };
  }

  private DeliveryOutcome sent(
      Push push, FcmToken token, FcmServiceAccount account, Grant.Granted granted) {
    Instant askedAt = sends.clock().instant();
    Reply reply = exchange(push, token, account, granted);
    if (!(reply instanceof Answered answered) || meaning(answered) != Meaning.RENEW_ACCESS_TOKEN) {
      return outcome(push, account, reply, askedAt);
    }
    return switch (tokens.renewed(account, granted)) {
      case Grant.Refused refused ->
          remedied(answered, AccessTokens.NOT_RENEWED, refused(push, refused));
      case Grant.Unavailable(String why) ->
          remedied(answered, AccessTokens.NOT_RENEWED, new Deferred(0, why, null, false));
      case Grant.Granted newer ->
          remedied(
              answered,
              AccessTokens.RENEWED,
              outcome(push, account, exchange(push, token, account, newer), askedAt));
    };
  }

  private static DeliveryOutcome remedied(Answered first, String remedy, DeliveryOutcome then) {
    return new Remedied(
        first.status(), reason(first.status(), FcmError.parse(first.body())), remedy, then);
  }

  private static String reason(int status, FcmError error) {
    return error.code().isEmpty() ? "http_" + status : error.code();
  }

  private DeliveryOutcome refused(Push push, Grant.Refused refused) {
    return fault(push, refused.status(), refused.reason());
  }

  private Reply exchange(
      Push push, FcmToken token, FcmServiceAccount account, Grant.Granted granted) {
    Instant expiresAt = push.delivery().ttl().isZero() ? null : push.expiresAt();
    String project = URLEncoder.encode(account.projectId(), StandardCharsets.UTF_8);
    return connections.send(
        new ConnectionTarget(project + "/" + account.fingerprint(), settings.endpoint(), tls),
        new ProviderRequest(
            push.delivery().priority(),
            "/v1/projects/" + project + "/messages:send",
            List.of(Field.secret("authorization", "Bearer " + granted.token())),
            FcmMessage.of(push, token, sends.clock().instant()),
            expiresAt),
        _ -> false);
  }

  private static Meaning meaning(Answered answered) {
    return FcmAnswers.of(answered.status(), FcmError.parse(answered.body()).code());
  }

  private DeliveryOutcome outcome(
      Push push, FcmServiceAccount account, Reply reply, Instant askedAt) {
    return sends.outcome(reply, answered -> outcome(push, account, answered, askedAt));
  }

  /// @param askedAt an installation that registered later, under the same id, is not the one that is gone
  private DeliveryOutcome outcome(
      Push push, FcmServiceAccount account, Answered answered, Instant askedAt) {
    FcmError error = FcmError.parse(answered.body(), account.projectId());
    int status = answered.status();
    String reason = reason(status, error);
    return switch (FcmAnswers.of(status, error.code())) {
      case ACCEPTED ->
          // Somebody between Google and us may say 200 to anything.
          error.name().isEmpty()
              ? new Deferred(status, "no_message_name", null, true)
              : new Accepted(status, "", error.name());
      case TOKEN_GONE -> new TokenGone(status, reason, askedAt);
      case TOKEN_GONE_IF_NAMED ->
          error.namesToken()
              ? new TokenGone(status, reason, askedAt)
              : new Rejected(status, reason);
      case TOKEN_FOREIGN -> new TokenForeign(status, reason);
      case REJECTED -> new Rejected(status, reason);
      case CREDENTIAL_FAULT, RENEW_ACCESS_TOKEN -> fault(push, status, reason);
      case QUOTA -> {
        Duration rest = sends.askedOr(answered, QUOTA_REST);
        if (error.narrow()) {
          yield new Deferred(status, reason, rest, false);
        }
        paces.of(account.projectId()).refused(rest);
        yield new Deferred(status, reason, rest, false, "project slowed");
      }
      case INTERNAL -> new Deferred(status, reason, sends.askedOr(answered, INTERNAL_REST), true);
      case UNAVAILABLE -> new Deferred(status, reason, sends.asked(answered).orElse(null), true);
    };
  }

  private DeliveryOutcome fault(Push push, int status, String reason) {
    LOG.error(
        "event=fcm_credential_refused appId={} messageId={} status={} reason={}",
        push.app(),
        push.id(),
        status,
        reason);
    return new CredentialFault(status, reason);
  }
}
