package io.pushplanet.gateway.provider;

import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Deferred;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/// The steps that are the same at every vendor: no credential, no answer, and how long to wait. What an answer means is the
/// vendor's own. Thread-safe when its randomness is.
public record Sends(Clock clock, RandomGenerator random) {
  private static final Duration CREDENTIALS_REST = Duration.ofSeconds(5);

  /// Sends with the app's credential, or says what its absence means.
  public <C extends Credential> DeliveryOutcome with(
      CredentialLookup<C> lookup, Function<C, DeliveryOutcome> send) {
    return switch (lookup) {
      case CredentialLookup.Missing<C> _ -> new Rejected(0, "no_credential");
      case CredentialLookup.Unreadable<C> _ -> new CredentialFault(0, "credential_unreadable");
      case CredentialLookup.Unavailable<C> _ ->
          new Deferred(0, "credentials_unavailable", CREDENTIALS_REST, false);
      case CredentialLookup.Found<C>(C credential) -> send.apply(credential);
    };
  }

  /// Reads an answer; where none came, the request is tried again.
  public DeliveryOutcome outcome(Reply reply, Function<Answered, DeliveryOutcome> meaning) {
    return switch (reply) {
      case Answered answered -> meaning.apply(answered);
      case Reply.NotSent(String why) -> new Deferred(0, why, null, false);
      case Reply.NoAnswer(String why) -> new Deferred(0, why, null, true);
      case Reply.Expired() -> new DeliveryOutcome.Expired();
    };
  }

  /// The wait that the vendor asks for.
  public Optional<Duration> asked(Answered answered) {
    return answered
        .header("retry-after")
        .flatMap(value -> RetryAfter.parse(value, clock.instant()));
  }

  /// The wait that the vendor asks for, else `rest` up to twice over.
  public Duration askedOr(Answered answered, Duration rest) {
    return asked(answered).orElseGet(() -> jittered(rest));
  }

  public Duration jittered(Duration rest) {
    return rest.plusMillis(random.nextLong(rest.toMillis()));
  }
}
