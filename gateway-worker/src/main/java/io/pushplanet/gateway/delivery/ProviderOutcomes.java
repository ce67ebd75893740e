package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.delivery.Outbox.Cause;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.provider.DeliveryOutcome;
import io.pushplanet.gateway.provider.DeliveryOutcome.Accepted;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Expired;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.Remedied;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenForeign;
import io.pushplanet.gateway.provider.DeliveryOutcome.TokenGone;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import io.pushplanet.gateway.retry.RetrySchedule;
import io.pushplanet.gateway.token.DeadTokens;
import io.pushplanet.gateway.token.DeadTokens.Death;
import io.pushplanet.gateway.token.DeadTokens.Fate;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Decides what a provider's answer means for a parcel, and for the token that it was sent to: the
/// parcel ends, waits for another try, takes another channel, or becomes a dead letter.
/// Thread-safe.
final class ProviderOutcomes {
  private final DeadTokens tokens;
  private final DatabaseCircuitBreaker breaker;
  private final RetrySchedule retries;
  private final int maxErrors;
  private final Clock clock;

  /// @param maxErrors after so many errors of ours a message becomes a dead letter
  ProviderOutcomes(
      DeadTokens tokens,
      DatabaseCircuitBreaker breaker,
      RetrySchedule retries,
      int maxErrors,
      Clock clock) {
    this.tokens = tokens;
    this.breaker = breaker;
    this.retries = retries;
    this.maxErrors = maxErrors;
    this.clock = clock;
  }

  void noProvider(Channel channel, Parcel parcel, Outbox outbox) {
    otherwise(
        channel,
        parcel,
        Attempt.failed(channel, outbox.now(), "channel_not_available", null),
        outbox);
  }

  /// The parcel has waited, and its device has no token of this channel any more.
  void noToken(Channel channel, Parcel parcel, Outbox outbox) {
    otherwise(
        channel,
        parcel,
        Attempt.rejected(
            channel,
            outbox.now(),
            "token_moved",
            "not sent: the device has no token of this channel any more"),
        outbox);
  }

  void handle(Channel channel, Parcel parcel, DeliveryOutcome outcome, Outbox outbox) {
    switch (outcome) {
      case Accepted accepted -> accepted(channel, parcel, accepted, outbox);
      case Rejected rejected -> rejected(channel, parcel, rejected, outbox);
      case Expired expired -> expired(channel, parcel, expired, outbox);
      case TokenGone gone -> afterDeadToken(channel, parcel, gone, gone.since(), outbox);
      case TokenForeign foreign ->
          afterDeadToken(channel, parcel, foreign, clock.instant(), outbox);
      case PutOff putOff -> putOff(channel, parcel, putOff, outbox);
      case TryAgain again -> tryAgain(channel, parcel, again, outbox);
      case DeliveryOutcome.InternalError error -> afterError(channel, parcel, error, outbox);
      case CredentialFault fault -> afterCredentialFault(channel, parcel, fault, outbox);
      case Remedied remedied -> remedied(channel, parcel, remedied, outbox);
    }
  }

  private void accepted(Channel channel, Parcel parcel, Accepted accepted, Outbox outbox) {
    if (parcel.recipient().namesDevice()) {
      tokens.accepted(parcel.push().app(), channel, environment(channel, parcel));
    }
    outbox.end(
        parcel,
        DeliveryState.DELIVERED,
        Attempt.delivered(channel, outbox.now(), accepted.status(), accepted.providerId()));
  }

  private void rejected(Channel channel, Parcel parcel, Rejected rejected, Outbox outbox) {
    if (rejected.status() > 0 && parcel.recipient().namesDevice()) {
      tokens.alive(parcel.push().app(), channel);
    }
    otherwise(
        channel,
        parcel,
        Attempt.rejected(channel, outbox.now(), rejected.reason(), "not repeated")
            .answered(rejected.status())
            .explained(rejected.detail()),
        outbox);
  }

  private static void expired(Channel channel, Parcel parcel, Expired expired, Outbox outbox) {
    outbox.end(
        parcel,
        DeliveryState.EXPIRED,
        Attempt.expired(channel, outbox.now(), expired.reason(), Cause.NOT_SENT));
  }

  private void putOff(Channel channel, Parcel parcel, PutOff putOff, Outbox outbox) {
    outbox.retry(
        parcel,
        parcel.alone().putOff(),
        channel,
        waitAfter(parcel, putOff),
        new Cause(putOff.status(), putOff.reason(), orNotSent(putOff, putOff.done())));
  }

  private void tryAgain(Channel channel, Parcel parcel, TryAgain again, Outbox outbox) {
    outbox.retry(
        parcel,
        parcel.alone().retried(),
        channel,
        waitAfter(channel, parcel, again),
        new Cause(
            again.status(),
            again.reason(),
            again.ambiguous() ? again.done() : orNotSent(again, again.done())));
  }

  private void afterCredentialFault(
      Channel channel, Parcel parcel, CredentialFault fault, Outbox outbox) {
    boolean asked = fault.status() > 0;
    outbox.retry(
        parcel,
        // A pause is not a try: after it the message still has all its tries.
        asked ? parcel.alone().retried() : parcel.alone().putOff(),
        channel,
        beforeItsEnd(
            parcel,
            asked
                ? retries.afterCredentialFault(parcel.push().attempt())
                : retries.whileCredentialRests(),
            RetrySchedule.LAST_TRY),
        new Cause(fault.status(), fault.reason(), orNotSent(fault, fault.done()), fault.detail()));
  }

  private void remedied(Channel channel, Parcel parcel, Remedied remedied, Outbox outbox) {
    outbox.report(
        parcel,
        Attempt.repeated(channel, outbox.now(), remedied.reason(), remedied.remedy())
            .answered(remedied.status()));
    handle(channel, parcel, remedied.then(), outbox);
  }

  private void afterError(
      Channel channel, Parcel parcel, DeliveryOutcome.InternalError error, Outbox outbox) {
    int before = parcel.push().timesTrippedOver();
    if (before + 1 < maxErrors) {
      outbox.retry(
          parcel,
          parcel.alone().afterError(),
          channel,
          retries.afterInternalError(before),
          new Cause(error.status(), error.reason(), null));
      return;
    }
    outbox.deadLetter(
        parcel,
        Attempt.failed(
            channel,
            outbox.now(),
            error.reason(),
            "kept in the dead letters after " + maxErrors + " errors; an operator may replay it"),
        error.what());
  }

  /// Our own back-off is cut short for a last try; a delay that the provider asked for is not.
  private Duration waitAfter(Channel channel, Parcel parcel, TryAgain again) {
    Duration wait = retries.after(channel, again, parcel.push().attempt());
    return again.after() == null
        ? beforeItsEnd(parcel, wait, RetrySchedule.first(channel, again.status()))
        : wait;
  }

  /// Where the provider was not asked, a last try cannot come too soon: if the provider still rests
  /// then, the parcel is put off again without a request, and ends.
  private Duration waitAfter(Parcel parcel, PutOff putOff) {
    Duration wait = retries.after(putOff);
    return putOff.status() == 0 ? beforeItsEnd(parcel, wait, Duration.ZERO) : wait;
  }

  private Duration beforeItsEnd(Parcel parcel, Duration wait, Duration least) {
    Duration left = Duration.between(clock.instant(), parcel.push().expiresAt());
    return RetrySchedule.beforeItsEnd(wait, left, least);
  }

  /// Without an answer nothing was sent, unless the outcome is ambiguous.
  private static @Nullable String orNotSent(DeliveryOutcome outcome, @Nullable String done) {
    return done == null && outcome.status() == 0 ? Cause.NOT_SENT : done;
  }

  /// The parcel takes another channel, or ends: this channel will never deliver it.
  private static void otherwise(Channel channel, Parcel parcel, Attempt attempt, Outbox outbox) {
    List<Channel> tried = new ArrayList<>(parcel.push().tried());
    tried.add(channel);
    Optional<Channel> next =
        parcel.recipient().channel(parcel.push().delivery().route(), false, tried);
    next.ifPresentOrElse(
        to -> outbox.fallBack(parcel, channel, to, attempt),
        () -> outbox.end(parcel, DeliveryState.FAILED, attempt));
  }

  /// Where the device has had another token since, the message comes back and goes to that one.
  private void afterDeadToken(
      Channel channel, Parcel parcel, DeliveryOutcome answer, Instant since, Outbox outbox) {
    Death death =
        new Death(since, answer.reason(), answer.evidence() == DeliveryOutcome.Evidence.DOUBTED);
    Optional<Fate> fate = forget(channel, parcel, death, outbox);
    String words = fate.map(Fate::words).orElse("token kept: the database is away");
    if (fate.equals(Optional.of(Fate.REPLACED))) {
      outbox.retry(
          parcel,
          parcel.alone().retried(),
          channel,
          retries.afterReplacedToken(),
          new Cause(answer.status(), answer.reason(), words));
      return;
    }
    otherwise(
        channel,
        parcel,
        Attempt.rejected(channel, outbox.now(), answer.reason(), words).answered(answer.status()),
        outbox);
  }

  /// Holds a database permit: otherwise a campaign to many dead tokens would leave no connections
  /// for the checks of other batches.
  ///
  /// @return empty while the database is away
  private Optional<Fate> forget(Channel channel, Parcel parcel, Death death, Outbox outbox) {
    Recipient.Registered token = parcel.recipient().token(channel).orElseThrow();
    return breaker.ask(
        "event=token_not_forgotten appId=%s deviceId=%s"
            .formatted(parcel.push().app(), parcel.recipient().device()),
        () ->
            tokens.forget(
                parcel.push().app(),
                parcel.recipient().device(),
                channel,
                environment(channel, parcel),
                token,
                death,
                outbox::withDatabasePermit));
  }

  /// Each environment of APNs has a credential of its own.
  private static String environment(Channel channel, Parcel parcel) {
    ApnsToken apns = parcel.recipient().apns();
    return channel == Channel.APNS && apns != null ? apns.environment() : "";
  }
}
