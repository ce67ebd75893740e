package io.pushplanet.gateway.fcm;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.alert.DailyAlerts;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.credential.RefusalNews;
import io.pushplanet.gateway.fcm.FcmAnswers.Meaning;
import io.pushplanet.gateway.http2.ConnectionTarget;
import io.pushplanet.gateway.http2.ProviderConnections;
import io.pushplanet.gateway.oauth.AccessTokens;
import io.pushplanet.gateway.oauth.Grant;
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
import io.pushplanet.gateway.provider.Explanation;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RecentPayloads;
import io.pushplanet.gateway.provider.Rests;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.time.SteadyClock;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends a message to devices that use Firebase, or to Firebase's topics. One send is one request;
/// a second one follows at once only when FCM wants a newer access token. Thread-safe.
final class FcmProvider implements Provider {
  private static final Logger LOG = LoggerFactory.getLogger(FcmProvider.class);

  /// Without a Retry-After, Google asks for 60 seconds after a 429
  /// (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
  private static final Duration QUOTA_REST = Duration.ofSeconds(60);

  /// No request was made: the service to which FCM passes the message on refuses its key.
  private static final String THIRD_PARTY_REST = "third_party_auth_rest";

  private final FcmSettings settings;
  private final CredentialCache credentials;
  private final AccessTokens<FcmServiceAccount> tokens;
  private final ProviderConnections connections;
  private final SSLContext tls;
  private final RetryWaits waits;
  private final ProviderMetrics metrics;
  private final ProjectPaces paces;
  private final QuarterHours quarterHours;
  private final PaceMetrics paceMetrics;
  private final Rests resting;
  private final RestingPlatforms restingPlatforms;
  private final RefusalNews news;
  private final DailyAlerts alerts;
  private final RecentPayloads<FcmMessage.MadeOf, FcmMessage> messages = new RecentPayloads<>();

  FcmProvider(
      FcmSettings settings,
      CredentialCache credentials,
      AccessTokens<FcmServiceAccount> tokens,
      ProviderConnections connections,
      SSLContext tls,
      RetryWaits waits,
      ProviderMetrics metrics,
      ProjectPaces paces,
      QuarterHours quarterHours,
      PaceMetrics paceMetrics,
      RestingPlatforms restingPlatforms,
      DailyAlerts alerts) {
    this.settings = settings;
    this.credentials = credentials;
    this.tokens = tokens;
    this.connections = connections;
    this.tls = tls;
    this.waits = waits;
    this.metrics = metrics;
    this.paces = paces;
    this.quarterHours = quarterHours;
    this.paceMetrics = paceMetrics;
    this.resting = Rests.ofDevices(new SteadyClock(waits.clock()), QUOTA_REST);
    this.restingPlatforms = restingPlatforms;
    this.alerts = alerts;
    this.news = new RefusalNews(waits.clock());
  }

  @Override
  public Channel channel() {
    return Channel.FCM;
  }

  @Override
  public DeliveryOutcome send(Push push, Recipient recipient) {
    return metrics.timed(() -> sendUntimed(push, recipient));
  }

  private DeliveryOutcome sendUntimed(Push push, Recipient recipient) {
    FcmToken token = recipient.fcm();
    if (token == null) {
      return new Rejected(0, "no_token");
    }
    if (push.overrides().liveActivity() != null) {
      return new Rejected(0, "live_activity_needs_apns");
    }
    return CredentialGate.send(
        credentials.fcm(push.app()),
        token.namesDevice() ? Addressee.DEVICE : Addressee.TOPIC,
        account -> sendUnlessItRests(new Sending(push, token, recipient.behindFcm(), account)));
  }

  /// @param behind the platform to which FCM passes the message on; null when it does not, or when
  ///     the platform is unknown
  private record Sending(
      Push push, FcmToken token, @Nullable Platform behind, FcmServiceAccount account) {
    /// The key under which it rests. Tokens differ in all projects, but each project has its own
    /// topics.
    String addressee() {
      return token.namesDevice()
          ? token.token()
          : account.projectId() + "/" + token.kind() + "/" + token.token();
    }

    /// Whether only this addressee is to get less. Google spreads a thousand messages of a project
    /// at a time and may refuse more
    /// (https://firebase.google.com/docs/cloud-messaging/topic-messaging): when it does not say
    /// whose quota is used up, no device waits for that of a topic.
    boolean restsAlone(FcmError.Quota quota) {
      return switch (quota) {
        case NARROW -> true;
        case UNSAID -> !token.namesDevice();
        case PROJECT -> false;
      };
    }
  }

  private DeliveryOutcome sendUnlessItRests(Sending sending) {
    if (sending.behind() != null
        && restingPlatforms.rests(sending.push().app(), sending.behind())) {
      return new CredentialFault(0, THIRD_PARTY_REST);
    }
    String reason = sending.token().namesDevice() ? "device_quota_rest" : "topic_quota_rest";
    return resting
        .rest(sending.addressee())
        .<DeliveryOutcome>map(rest -> new PutOff(0, reason, rest))
        .orElseGet(() -> sendWithCredential(sending));
  }

  /// Puts a message off around the quarters of the hour, and while other messages wait for the
  /// project's pace.
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
        .putOff(push.delivery().priority(), push.cameBack(), left(push))
        .map(FcmProvider::projectRests);
  }

  /// Waits for the project's pace.
  @Override
  public Optional<DeliveryOutcome> turn(Push push) throws InterruptedException {
    Optional<DeliveryOutcome> putOff = putOff(push);
    Optional<ProjectPace> pace = pace(push);
    if (putOff.isPresent() || pace.isEmpty()) {
      return putOff;
    }
    return switch (pace.get().turn(push.delivery().priority(), push.cameBack(), left(push))) {
      case ProjectPace.Turn.Rest(Duration wait) -> Optional.of(projectRests(wait));
      case ProjectPace.Turn.After(Duration wait) -> {
        if (!wait.isZero()) {
          TimeUnit.NANOSECONDS.sleep(wait.toNanos());
        }
        yield Optional.empty();
      }
    };
  }

  private Duration left(Push push) {
    return Duration.between(waits.clock().instant(), push.expiresAt());
  }

  /// Empty without a credential: the send itself then says what is wrong.
  private Optional<ProjectPace> pace(Push push) {
    return credentials.fcm(push.app())
            instanceof CredentialLookup.Found<FcmServiceAccount>(FcmServiceAccount account, var _)
        ? Optional.of(paces.of(account.projectId()))
        : Optional.empty();
  }

  private static DeliveryOutcome projectRests(Duration wait) {
    return new PutOff(0, PutOff.PROJECT_QUOTA, wait);
  }

  private DeliveryOutcome sendWithCredential(Sending sending) {
    return switch (tokens.current(sending.account())) {
      case Grant.Refused refused -> refused(sending, refused);
      case Grant.Unavailable(String why) -> new TryAgain(0, why, null, false);
      case Grant.Granted granted -> sendWithToken(sending, granted);
    };
  }

  private DeliveryOutcome sendWithToken(Sending sending, Grant.Granted granted) {
    Instant askedAt = waits.clock().instant();
    Reply reply = request(sending, granted);
    if (!(reply instanceof Answered answered) || meaning(answered) != Meaning.RENEW_ACCESS_TOKEN) {
      return outcome(sending, reply, askedAt);
    }
    return switch (tokens.renewed(sending.account(), granted)) {
      case Grant.Refused refused ->
          remedied(answered, AccessTokens.NOT_RENEWED, refused(sending, refused));
      case Grant.Unavailable(String why) ->
          remedied(answered, AccessTokens.NOT_RENEWED, new TryAgain(0, why, null, false));
      case Grant.Granted newer ->
          remedied(
              answered, AccessTokens.RENEWED, outcome(sending, request(sending, newer), askedAt));
    };
  }

  private static DeliveryOutcome remedied(Answered first, String remedy, DeliveryOutcome then) {
    return new Remedied(
        first.status(), reason(first.status(), FcmError.parse(first.body())), remedy, then);
  }

  private static String reason(int status, FcmError error) {
    return error.code().isEmpty() ? "http_" + status : error.code();
  }

  private DeliveryOutcome refused(Sending sending, Grant.Refused refused) {
    return fault(sending, refused.status(), refused.reason(), null, null, Evidence.REFUSED);
  }

  private Reply request(Sending sending, Grant.Granted granted) {
    Push push = sending.push();
    FcmServiceAccount account = sending.account();
    String project = URLEncoder.encode(account.projectId(), StandardCharsets.UTF_8);
    return connections.send(
        new ConnectionTarget(project + "/" + account.fingerprint(), settings.endpoint(), tls),
        new ProviderRequest(
            push.delivery().priority(),
            "/v1/projects/" + project + "/messages:send",
            List.of(Field.secret("authorization", "Bearer " + granted.token())),
            FcmMessage.of(push, waits.clock().instant(), messages).to(sending.token()),
            push.writeBy()),
        _ -> false);
  }

  private static Meaning meaning(Answered answered) {
    return FcmAnswers.of(answered.status(), FcmError.parse(answered.body()).code());
  }

  private DeliveryOutcome outcome(Sending sending, Reply reply, Instant askedAt) {
    return DeliveryOutcome.of(reply, answered -> outcomeOfAnswer(sending, answered, askedAt));
  }

  private void tellOfForeignToken(Sending sending, String reason) {
    String project = sending.account().projectId();
    alerts.tell(
        Alerts.Kind.TOKENS_FOREIGN,
        sending.push().app(),
        project,
        "fcm",
        "Google says that a device's token belongs to another Firebase project than "
            + project
            + " ("
            + reason
            + "). Nothing can be sent to it. Compare this credential's project with that in the app's"
            + " google-services.json. Told once a day; the metric pushplanet_provider_send counts them"
            + " all as token_foreign.");
  }

  /// @param askedAt a token that was registered later is not the one that is gone
  private DeliveryOutcome outcomeOfAnswer(Sending sending, Answered answered, Instant askedAt) {
    FcmError error = FcmError.parse(answered.body(), sending.account().projectId());
    int status = answered.status();
    String reason = reason(status, error);
    return switch (FcmAnswers.of(status, error.code())) {
      case ACCEPTED -> {
        if (error.name().isEmpty()) {
          // A proxy between Google and us may answer 200 to anything.
          yield new TryAgain(status, "no_message_name", null, true);
        }
        resting.taken(sending.addressee());
        if (sending.behind() != null) {
          restingPlatforms.taken(sending.push().app(), sending.behind());
        }
        yield new Accepted(status, "", error.name());
      }
      case TOKEN_GONE -> new TokenGone(status, reason, askedAt);
      case TOKEN_GONE_IF_NAMED ->
          error.namesToken()
              ? new TokenGone(status, reason, askedAt)
              : new Rejected(status, reason, explanation(sending, error));
      case TOKEN_FOREIGN -> {
        tellOfForeignToken(sending, reason);
        yield new TokenForeign(status, reason);
      }
      case REJECTED -> new Rejected(status, reason, explanation(sending, error));
      case CREDENTIAL_FAULT, RENEW_ACCESS_TOKEN ->
          fault(sending, status, reason, null, explanation(sending, error), Evidence.REFUSED);
      case TOKEN_OR_CREDENTIAL_FAULT ->
          fault(sending, status, reason, null, explanation(sending, error), Evidence.DOUBTED);
      case OTHER_CREDENTIAL_FAULT -> {
        boolean rests =
            sending.behind() != null
                && restingPlatforms.refused(sending.push().app(), sending.behind(), reason);
        yield fault(
            sending,
            status,
            reason,
            rests ? "platform rests" : null,
            explanation(sending, error),
            Evidence.NONE);
      }
      case QUOTA -> {
        if (sending.restsAlone(error.quota())) {
          Duration rest =
              resting.refused(
                  sending.addressee(), waits.asked(answered, error.code()).orElse(null));
          String done = sending.token().namesDevice() ? Rests.DEVICE_RESTS : "topic rests";
          yield new TryAgain(status, reason, rest, false, done);
        }
        // The messages come back spread out, but the project rests no longer than it must.
        Duration rest = waits.asked(answered, error.code()).orElse(QUOTA_REST);
        paces.of(sending.account().projectId()).refused(rest);
        Duration after = waits.askedOr(answered, error.code(), QUOTA_REST);
        yield new TryAgain(status, reason, after, false, "project slowed");
      }
      case UNAVAILABLE ->
          new TryAgain(status, reason, waits.asked(answered, error.code()).orElse(null), true);
    };
  }

  /// A topic's name is no secret.
  private static @Nullable String explanation(Sending sending, FcmError error) {
    FcmToken to = sending.token();
    return Explanation.of(error.explanation(), to.namesDevice() ? List.of(to.token()) : List.of());
  }

  private DeliveryOutcome fault(
      Sending sending,
      int status,
      String reason,
      @Nullable String done,
      @Nullable String detail,
      Evidence evidence) {
    Push push = sending.push();
    if (news.isNews(push.app(), sending.account(), reason)) {
      LOG.error(
          "event=fcm_credential_refused appId={} messageId={} status={} reason={}",
          push.app(),
          push.id(),
          status,
          reason);
    }
    return new CredentialFault(status, reason, done, detail, evidence);
  }
}
