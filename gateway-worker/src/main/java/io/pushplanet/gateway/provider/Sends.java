package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialLane;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Deferred;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import java.time.Clock;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.random.RandomGenerator;

/// The steps that are the same at every vendor: no credential, no answer, and how long to wait. What an answer means is the
/// vendor's own. Thread-safe when its randomness is.
public record Sends(Clock clock, RandomGenerator random) {
  /// Nobody was asked: the service that FCM passes the message on to does not take its key.
  public static final String THIRD_PARTY_REST = "third_party_auth_rest";

  /// Who answers without the vendor's form is waited for so long at most, whatever it asks for.
  static final Duration LONGEST_OF_ANYBODY = Duration.ofMinutes(15);

  private static final Duration CREDENTIALS_REST = Duration.ofSeconds(5);
  private static final String TOPIC_DISALLOWED = "TopicDisallowed";

  /// The token is at fault, or the credential: it counts against the credential when nearly every token gets it.
  private static final Set<String> DOUBTFUL =
      Set.of(
          "BadDeviceToken",
          "DeviceTokenNotForTopic",
          TOPIC_DISALLOWED,
          "SENDER_ID_MISMATCH",
          // FCM's, without a code of its own.
          "NOT_FOUND",
          "80100000",
          "80300007");

  /// FCM's word of the key for iPhones or browsers that lies in the Firebase project, and ours for those who wait for it:
  /// with our credential others are sent to.
  private static final Set<String> OF_ANOTHER_CREDENTIAL =
      Set.of("THIRD_PARTY_AUTH_ERROR", THIRD_PARTY_REST);

  /// Whom an answer is about.
  public enum Addressee {
    DEVICE,
    /// Its token or channel came with the message and may be anything: no device's token is given up for it.
    LIVE_ACTIVITY,
    /// A broadcast channel: that it is refused may be its own fault, and does not speak for the credential.
    CHANNEL,
    /// No token either, and every project takes messages to every topic: nothing that is said of one speaks for a credential.
    TOPIC
  }

  /// Sends to a device with the app's credential, or says what its absence means. What the answer says of the credential is told
  /// to its lane.
  public <C extends Credential> DeliveryOutcome with(
      CredentialLookup<C> lookup, Function<C, DeliveryOutcome> send) {
    return with(lookup, Addressee.DEVICE, send);
  }

  /// The same to whomever.
  public <C extends Credential> DeliveryOutcome with(
      CredentialLookup<C> lookup, Addressee to, Function<C, DeliveryOutcome> send) {
    return with(lookup, to, 1, credential -> List.of(send.apply(credential))).getFirst();
  }

  /// The same for several devices in one request, with an outcome for each.
  public <C extends Credential> List<DeliveryOutcome> with(
      CredentialLookup<C> lookup, int recipients, Function<C, List<DeliveryOutcome>> send) {
    return with(lookup, Addressee.DEVICE, recipients, send);
  }

  private static <C extends Credential> List<DeliveryOutcome> with(
      CredentialLookup<C> lookup,
      Addressee to,
      int recipients,
      Function<C, List<DeliveryOutcome>> send) {
    return switch (lookup) {
      case CredentialLookup.Missing<C> _ ->
          Collections.nCopies(recipients, new Rejected(0, "no_credential"));
      case CredentialLookup.Unreadable<C> _ ->
          Collections.nCopies(recipients, new CredentialFault(0, "credential_unreadable"));
      case CredentialLookup.Unavailable<C> _ ->
          Collections.nCopies(
              recipients, new PutOff(0, "credentials_unavailable", CREDENTIALS_REST));
      case CredentialLookup.Paused<C> _ -> Collections.nCopies(recipients, paused());
      case CredentialLookup.Found<C>(C credential, CredentialLane lane) -> {
        if (lane.pausedBecause().isPresent()) {
          yield Collections.nCopies(recipients, paused());
        }
        List<DeliveryOutcome> outcomes = send.apply(credential);
        yield outcomes.stream().map(outcome -> told(lane, to, outcome)).toList();
      }
    };
  }

  private static DeliveryOutcome paused() {
    return new CredentialFault(0, "credential_paused");
  }

  /// Tells the lane, and the outcome what that did.
  private static DeliveryOutcome told(CredentialLane lane, Addressee to, DeliveryOutcome answer) {
    if (answer
        instanceof DeliveryOutcome.Remedied(int status, String reason, String remedy, var then)) {
      return new DeliveryOutcome.Remedied(status, reason, remedy, told(lane, to, then));
    }
    DeliveryOutcome outcome = to == Addressee.DEVICE ? answer : withoutToken(answer);
    boolean speaks =
        switch (to) {
          case DEVICE, LIVE_ACTIVITY -> true;
          case CHANNEL ->
              outcome instanceof DeliveryOutcome.Accepted || outcome instanceof CredentialFault;
          case TOPIC -> outcome instanceof CredentialFault;
        };
    if (speaks) {
      tell(lane, outcome);
    }
    return outcome instanceof CredentialFault fault
            && !OF_ANOTHER_CREDENTIAL.contains(fault.reason())
        ? fault.after(
            lane.pausedBecause().isPresent() ? "credential paused" : "credential in doubt")
        : outcome;
  }

  /// Whatever was said of a token, none is given up.
  private static DeliveryOutcome withoutToken(DeliveryOutcome outcome) {
    return switch (outcome) {
      case DeliveryOutcome.TokenGone(int status, String reason, var _) ->
          new Rejected(status, reason);
      case DeliveryOutcome.TokenForeign(int status, String reason) -> new Rejected(status, reason);
      case DeliveryOutcome.Remedied _,
          DeliveryOutcome.Accepted _,
          DeliveryOutcome.Expired _,
          DeliveryOutcome.InternalError _,
          Rejected _,
          Deferred _,
          PutOff _,
          CredentialFault _ ->
          outcome;
    };
  }

  private static void tell(CredentialLane lane, DeliveryOutcome outcome) {
    if (DOUBTFUL.contains(outcome.reason())) {
      if (isAboutWhoIsRegistered(outcome)) {
        lane.doubted(outcome.reason());
      }
      return;
    }
    switch (outcome) {
      case CredentialFault fault when OF_ANOTHER_CREDENTIAL.contains(fault.reason()) -> {}
      case CredentialFault fault -> {
        // A push service does not say whether it means the key or this one subscription.
        if (lane.provider().equals(Channel.WEBPUSH.word())) {
          lane.doubted(fault.reason());
        } else {
          lane.refused(fault.reason());
        }
      }
      case DeliveryOutcome.Accepted _, DeliveryOutcome.TokenGone _, DeliveryOutcome.Rejected _ ->
          lane.taken();
      case DeliveryOutcome.Remedied _,
          DeliveryOutcome.TokenForeign _,
          DeliveryOutcome.Expired _,
          DeliveryOutcome.InternalError _,
          Deferred _,
          PutOff _ -> {}
    }
  }

  /// A token that came with the message (a Live Activity's) may be anything, and says nothing of the credential.
  private static boolean isAboutWhoIsRegistered(DeliveryOutcome outcome) {
    return switch (outcome) {
      case DeliveryOutcome.TokenGone _, DeliveryOutcome.TokenForeign _, CredentialFault _ -> true;
      case Rejected rejected -> rejected.reason().equals(TOPIC_DISALLOWED);
      case DeliveryOutcome.Remedied _,
          DeliveryOutcome.Accepted _,
          DeliveryOutcome.Expired _,
          DeliveryOutcome.InternalError _,
          Deferred _,
          PutOff _ ->
          false;
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

  /// The wait that is asked for, where the body may be anybody's: a proxy's page would let messages expire. Else as
  /// [#asked(Answered)].
  ///
  /// @param word the vendor's own in the body; without one the wait is bounded
  public Optional<Duration> asked(Answered answered, String word) {
    Optional<Duration> asked = asked(answered);
    return word.isEmpty()
        ? asked.map(it -> it.compareTo(LONGEST_OF_ANYBODY) > 0 ? LONGEST_OF_ANYBODY : it)
        : asked;
  }

  /// The wait that the vendor asks for. None is no wait to ask for: it would come again at once until its time to live ends.
  public Optional<Duration> asked(Answered answered) {
    return answered
        .header("retry-after")
        .flatMap(value -> RetryAfter.parse(value, clock.instant()))
        .filter(Duration::isPositive);
  }

  /// The wait that the vendor asks for, else `rest` up to twice over.
  public Duration askedOr(Answered answered, Duration rest) {
    return asked(answered).orElseGet(() -> jittered(rest));
  }

  /// @param word as of [#asked(Answered, String)]
  public Duration askedOr(Answered answered, String word, Duration rest) {
    return asked(answered, word).orElseGet(() -> jittered(rest));
  }

  public Duration jittered(Duration rest) {
    return rest.plusMillis(random.nextLong(rest.toMillis()));
  }
}
