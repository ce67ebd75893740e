package io.pushplanet.gateway.hms;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.connection.HttpPool;
import io.pushplanet.gateway.connection.PriorityBulkhead;
import io.pushplanet.gateway.connection.ProviderRequest.Field;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.credential.RefusalNews;
import io.pushplanet.gateway.hms.HmsAnswers.Meaning;
import io.pushplanet.gateway.oauth.AccessTokens;
import io.pushplanet.gateway.oauth.Grant;
import io.pushplanet.gateway.provider.CredentialGate;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.Remedied;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.gateway.provider.Explanation;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RetryWaits;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends a message to phones with Huawei's services, up to a thousand in one request
/// ([why](../../../../../../../../docs/adr/0025-push-kit-takes-neighbours-together.md)). A
/// second request follows at once only when Push Kit wants a newer access token, or does not let
/// the app send with urgency HIGH. Thread-safe.
final class HmsProvider implements Provider {
  private static final Logger LOG = LoggerFactory.getLogger(HmsProvider.class);

  /// Tokens in one request: Push Kit's limit at first, fewer after a failure, and then each alone,
  /// so that no token keeps the others from their message.
  static final List<Integer> MAX_TOGETHER = List.of(1_000, 32, 1);

  /// An app may get the right to urgency HIGH, so it is tried again after this time.
  private static final Duration NOT_URGENT_FOR = Duration.ofHours(1);

  private static final int MAX_APPS = 10_000;
  private static final String FEWER_TOGETHER = "fewer together";

  /// How soon a message comes back that could not be sent, because other requests of ours were
  /// before it, or because Huawei could not be reached. That is no try: after a try it would come
  /// back in smaller parts, each with a request of its own.
  private static final Duration NEXT_TURN = Duration.ofSeconds(5);

  private final HmsSettings settings;
  private final CredentialCache credentials;
  private final AccessTokens<HmsClient> accessTokens;
  private final HttpPool connections;
  private final PriorityBulkhead bulkhead;
  private final FlowControl flow;
  private final RefusalNews news;
  private final RetryWaits waits;
  private final ProviderMetrics metrics;
  private final Cache<String, Boolean> notUrgent =
      Caffeine.newBuilder().maximumSize(MAX_APPS).expireAfterWrite(NOT_URGENT_FOR).build();

  /// An answer and what it says.
  private record Heard(Reply reply, HmsAnswer said) {
    Heard(Reply reply) {
      this(reply, HmsAnswer.of(reply));
    }

    boolean means(Meaning meaning) {
      return reply instanceof Answered answered
          && HmsAnswers.of(answered.status(), said.code()) == meaning;
    }
  }

  /// Turns an answer into the outcome of each token.
  private interface Judgement {
    DeliveryOutcome of(String token);
  }

  HmsProvider(
      HmsSettings settings,
      CredentialCache credentials,
      AccessTokens<HmsClient> accessTokens,
      HttpPool connections,
      FlowControl flow,
      RetryWaits waits,
      ProviderMetrics metrics) {
    this.settings = settings;
    this.credentials = credentials;
    this.accessTokens = accessTokens;
    this.connections = connections;
    this.bulkhead = new PriorityBulkhead(settings.connections());
    this.flow = flow;
    this.news = new RefusalNews(waits.clock());
    this.waits = waits;
    this.metrics = metrics;
  }

  @Override
  public Channel channel() {
    return Channel.HMS;
  }

  @Override
  public int mostAtOnce() {
    return connections.connections();
  }

  @Override
  public boolean takesNeighbours() {
    return true;
  }

  @Override
  public int mostTogether(Push push) {
    return MAX_TOGETHER.get(Math.min(push.attempt(), MAX_TOGETHER.size() - 1));
  }

  /// Flow control.
  @Override
  public Optional<DeliveryOutcome> turn(Push push) {
    return credentials.hms(push.app())
            instanceof CredentialLookup.Found<HmsClient>(HmsClient client, var _)
        ? flow.rest(client.clientId()).map(rest -> new PutOff(0, "flow_control_rest", rest))
        : Optional.empty();
  }

  @Override
  public DeliveryOutcome send(Push push, Recipient recipient) {
    return send(push, List.of(recipient)).getFirst();
  }

  @Override
  public List<DeliveryOutcome> send(Push push, List<Recipient> recipients) {
    return metrics.timedTogether(() -> sendUntimed(push, recipients));
  }

  private List<DeliveryOutcome> sendUntimed(Push push, List<Recipient> recipients) {
    List<String> tokens =
        recipients.stream()
            .map(Recipient::hms)
            .filter(Objects::nonNull)
            .map(HmsToken::token)
            .distinct()
            .toList();
    if (tokens.isEmpty()) {
      return Collections.nCopies(recipients.size(), new Rejected(0, "no_token"));
    }
    if (push.overrides().liveActivity() != null) {
      return Collections.nCopies(recipients.size(), new Rejected(0, "live_activity_needs_apns"));
    }
    return CredentialGate.send(
        credentials.hms(push.app()),
        recipients.size(),
        client -> {
          Judgement judgement = sendWithCredential(push, tokens, client);
          return recipients.stream().map(recipient -> outcomeFor(recipient, judgement)).toList();
        });
  }

  private static DeliveryOutcome outcomeFor(Recipient recipient, Judgement judgement) {
    HmsToken token = recipient.hms();
    return token == null ? new Rejected(0, "no_token") : judgement.of(token.token());
  }

  private Judgement sendWithCredential(Push push, List<String> tokens, HmsClient client) {
    return switch (accessTokens.current(client)) {
      case Grant.Refused refused ->
          all(fault(push, client, refused.status(), refused.reason(), null));
      case Grant.Unavailable(String why) -> all(new PutOff(0, why, NEXT_TURN));
      case Grant.Granted granted -> sendWithToken(push, tokens, client, granted, true);
    };
  }

  private Judgement sendWithToken(
      Push push, List<String> tokens, HmsClient client, Grant.Granted granted, boolean mayRenew) {
    Instant askedAt = waits.clock().instant();
    boolean urgent = mayBeUrgent(push, client);
    Heard heard = new Heard(request(push, tokens, client, granted, urgent));
    if (urgent && heard.means(Meaning.NOT_URGENT)) {
      LOG.warn("event=hms_not_urgent appId={} clientId={}", push.app(), client.clientId());
      notUrgent.put(client.clientId(), true);
      return remedied(
          heard,
          "sent again without urgency",
          sendWithToken(push, tokens, client, granted, mayRenew));
    }
    if (!mayRenew || !heard.means(Meaning.RENEW_ACCESS_TOKEN)) {
      return judgement(push, tokens, client, heard, askedAt);
    }
    return switch (accessTokens.renewed(client, granted)) {
      case Grant.Refused refused ->
          remedied(
              heard,
              AccessTokens.NOT_RENEWED,
              all(fault(push, client, refused.status(), refused.reason(), null)));
      case Grant.Unavailable(String why) ->
          remedied(heard, AccessTokens.NOT_RENEWED, all(new PutOff(0, why, NEXT_TURN)));
      case Grant.Granted newer ->
          remedied(heard, AccessTokens.RENEWED, sendWithToken(push, tokens, client, newer, false));
    };
  }

  /// Huawei grants urgency HIGH only on application; without it the message goes with NORMAL.
  private boolean mayBeUrgent(Push push, HmsClient client) {
    return push.delivery().priority() == Priority.HIGH
        && notUrgent.getIfPresent(client.clientId()) == null;
  }

  private Reply request(
      Push push, List<String> tokens, HmsClient client, Grant.Granted granted, boolean urgent) {
    try {
      if (!bulkhead.acquire(push.delivery().priority(), settings.connectTimeout())) {
        return new Reply.NotSent("busy");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Reply.NotSent("interrupted");
    }
    try {
      return connections.post(
          HttpPool.Target.at(settings.endpoint(), "/v1/" + client.clientId() + "/messages:send"),
          List.of(
              Field.of("content-type", "application/json; charset=UTF-8"),
              Field.secret("authorization", "Bearer " + granted.token())),
          HmsMessage.of(push, tokens, urgent, waits.clock().instant()),
          push.writeBy());
    } finally {
      bulkhead.release();
    }
  }

  private Judgement judgement(
      Push push, List<String> tokens, HmsClient client, Heard heard, Instant askedAt) {
    if (heard.reply() instanceof Reply.NotSent(String why)) {
      return all(new PutOff(0, why, NEXT_TURN));
    }
    HmsAnswer said = heard.said();
    if (heard.reply() instanceof Answered && !heard.means(Meaning.FLOW_CONTROL)) {
      flow.taken(client.clientId());
    }
    if (heard.means(Meaning.PARTLY_ACCEPTED)
        && tokens.stream().anyMatch(said.illegal()::contains)) {
      DeliveryOutcome accepted = new Accepted(200, "", said.requestId());
      DeliveryOutcome illegal = new TokenGone(200, said.code(), askedAt, Evidence.DOUBTED);
      return token -> said.illegal().contains(token) ? illegal : accepted;
    }
    return all(
        DeliveryOutcome.of(
            heard.reply(),
            answered -> outcomeOfAnswer(push, tokens, client, answered, said, askedAt)));
  }

  private DeliveryOutcome outcomeOfAnswer(
      Push push,
      List<String> tokens,
      HmsClient client,
      Answered answered,
      HmsAnswer said,
      Instant askedAt) {
    int status = answered.status();
    String reason = reason(status, said);
    // Then another token may be at fault.
    boolean together = tokens.size() > 1;
    return switch (HmsAnswers.of(status, said.code())) {
      case ACCEPTED -> new Accepted(status, "", said.requestId());
      case TOKENS_ILLEGAL -> new TokenGone(status, reason, askedAt, Evidence.DOUBTED);
      case REJECTED, NOT_URGENT ->
          new Rejected(status, reason, Explanation.of(said.explanation(), tokens));
      case REJECTED_TOGETHER ->
          together
              ? new TryAgain(status, reason, null, false, FEWER_TOGETHER)
              : new Rejected(status, reason, Explanation.of(said.explanation(), tokens));
      // Some tokens have the message, and the answer does not say which.
      case PARTLY_ACCEPTED ->
          together
              ? new TryAgain(status, reason, null, true, FEWER_TOGETHER)
              : new Rejected(status, reason, Explanation.of(said.explanation(), tokens));
      case CREDENTIAL_FAULT, RENEW_ACCESS_TOKEN ->
          fault(push, client, status, reason, Explanation.of(said.explanation(), tokens));
      case FLOW_CONTROL -> {
        Duration rest =
            flow.refused(client.clientId(), waits.asked(answered, said.code()).orElse(null));
        yield new PutOff(status, reason, rest, "app rests");
      }
      case LATER ->
          new TryAgain(status, reason, waits.asked(answered, said.code()).orElse(null), false);
      case INTERNAL ->
          new TryAgain(status, reason, waits.asked(answered, said.code()).orElse(null), true);
    };
  }

  private static Judgement remedied(Heard first, String remedy, Judgement then) {
    return first.reply() instanceof Answered answered
        ? token ->
            new Remedied(
                answered.status(), reason(answered.status(), first.said()), remedy, then.of(token))
        : then;
  }

  private static String reason(int status, HmsAnswer said) {
    return said.code().isEmpty() ? "http_" + status : said.code();
  }

  private static Judgement all(DeliveryOutcome outcome) {
    return _ -> outcome;
  }

  private DeliveryOutcome fault(
      Push push, HmsClient client, int status, String reason, @Nullable String detail) {
    if (news.isNews(push.app(), client, reason)) {
      LOG.error(
          "event=hms_credential_refused appId={} messageId={} status={} reason={}",
          push.app(),
          push.id(),
          status,
          reason);
    }
    return new CredentialFault(status, reason, null, detail, Evidence.REFUSED);
  }
}
