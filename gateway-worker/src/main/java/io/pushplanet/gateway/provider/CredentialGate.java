package io.pushplanet.gateway.provider;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialLane;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Deferred;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/// Lets messages out that an app's credential can send, and tells the credential's lane what the
/// answers say about it. Thread-safe.
public final class CredentialGate {
  /// No request was made: the service to which FCM passes the message on refuses its key.
  public static final String THIRD_PARTY_REST = "third_party_auth_rest";

  private static final Duration CREDENTIALS_REST = Duration.ofSeconds(5);
  private static final String TOPIC_DISALLOWED = "TopicDisallowed";

  /// The token is at fault, or the credential. Such an answer counts against the credential when
  /// nearly every token gets it.
  private static final Set<String> DOUBTFUL =
      Set.of(
          "BadDeviceToken",
          "DeviceTokenNotForTopic",
          TOPIC_DISALLOWED,
          "SENDER_ID_MISMATCH",
          // FCM's 404 without a code of its own.
          "NOT_FOUND",
          "80100000",
          "80300007");

  /// FCM's word for a refused key for iPhones or browsers, which lies in the Firebase project, and
  /// ours for the messages that wait for it. Our credential is good: it sends to all other devices.
  private static final Set<String> OF_ANOTHER_CREDENTIAL =
      Set.of("THIRD_PARTY_AUTH_ERROR", THIRD_PARTY_REST);

  /// The kind of addressee that an answer is about.
  public enum Addressee {
    DEVICE,
    /// Its token or channel came with the message and may be anything: no device's token is given
    /// up for it.
    LIVE_ACTIVITY,
    /// A broadcast channel. Its refusal may be its own fault and says nothing about the credential.
    CHANNEL,
    /// No token either. Every project may send to every topic, so an answer about one says nothing
    /// about a credential.
    TOPIC
  }

  private CredentialGate() {}

  /// Sends to a device with the app's credential, or returns the outcome of its absence. The
  /// credential's lane learns what the answer says about the credential.
  public static <C extends Credential> DeliveryOutcome send(
      CredentialLookup<C> lookup, Function<C, DeliveryOutcome> send) {
    return send(lookup, Addressee.DEVICE, send);
  }

  /// As above, for any kind of addressee.
  public static <C extends Credential> DeliveryOutcome send(
      CredentialLookup<C> lookup, Addressee to, Function<C, DeliveryOutcome> send) {
    return send(lookup, to, 1, credential -> List.of(send.apply(credential))).getFirst();
  }

  /// As above, for several devices in one request, with an outcome for each.
  public static <C extends Credential> List<DeliveryOutcome> send(
      CredentialLookup<C> lookup, int recipients, Function<C, List<DeliveryOutcome>> send) {
    return send(lookup, Addressee.DEVICE, recipients, send);
  }

  private static <C extends Credential> List<DeliveryOutcome> send(
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

  /// Tells the lane about the answer, and adds to the outcome what the lane did.
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

  /// Turns an answer about a token into a rejection, so that no token is given up.
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
      if (isAboutRegisteredToken(outcome)) {
        lane.doubted(outcome.reason());
      }
      return;
    }
    switch (outcome) {
      case CredentialFault fault when OF_ANOTHER_CREDENTIAL.contains(fault.reason()) -> {}
      case CredentialFault fault -> {
        // A push service does not say whether it refuses the key or only this subscription.
        if (lane.provider().equals(Channel.WEBPUSH.word())) {
          lane.doubted(fault.reason());
        } else {
          lane.refused(fault.reason());
        }
      }
      case DeliveryOutcome.Accepted _, DeliveryOutcome.TokenGone _, DeliveryOutcome.Rejected _ -> {
        // A message that we reject ourselves says nothing about the credential.
        if (outcome.status() > 0) {
          lane.taken();
        }
      }
      case DeliveryOutcome.Remedied _,
          DeliveryOutcome.TokenForeign _,
          DeliveryOutcome.Expired _,
          DeliveryOutcome.InternalError _,
          Deferred _,
          PutOff _ -> {}
    }
  }

  /// Whether a device's registered token is at fault. The token of a Live Activity came with the
  /// message; it may be anything, and says nothing about the credential.
  private static boolean isAboutRegisteredToken(DeliveryOutcome outcome) {
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
}
