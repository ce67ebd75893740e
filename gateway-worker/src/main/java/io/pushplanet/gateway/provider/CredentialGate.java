package io.pushplanet.gateway.provider;

import io.pushplanet.gateway.credential.Credential;
import io.pushplanet.gateway.credential.CredentialLookup;
import io.pushplanet.gateway.credential.CredentialStanding;
import io.pushplanet.gateway.provider.DeliveryOutcome.CredentialFault;
import io.pushplanet.gateway.provider.DeliveryOutcome.Evidence;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import io.pushplanet.gateway.provider.DeliveryOutcome.Rejected;
import io.pushplanet.gateway.provider.DeliveryOutcome.TryAgain;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;

/// Lets messages out that an app's credential can send, and tells its [CredentialStanding] what the
/// answers say about it. Thread-safe.
public final class CredentialGate {
  private static final Duration CREDENTIALS_REST = Duration.ofSeconds(5);

  /// What was done about a refused message, for its timeline.
  private static final String PAUSED = "credential paused";

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
  /// credential's standing learns what the answer says about the credential.
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
          Collections.nCopies(
              recipients, new CredentialFault(0, CredentialLookup.Unreadable.REASON));
      case CredentialLookup.Unavailable<C> _ ->
          Collections.nCopies(
              recipients, new PutOff(0, "credentials_unavailable", CREDENTIALS_REST));
      case CredentialLookup.Paused<C> _ -> Collections.nCopies(recipients, paused());
      case CredentialLookup.Found<C>(C credential, CredentialStanding standing) -> {
        if (standing.pausedBecause().isPresent()) {
          yield Collections.nCopies(recipients, paused());
        }
        List<DeliveryOutcome> outcomes = send.apply(credential);
        // An answer that accepts some devices casts no doubt on the credential, whichever come
        // first.
        boolean taken = outcomes.stream().anyMatch(CredentialGate::isAccepted);
        yield outcomes.stream().map(outcome -> told(standing, to, outcome, taken)).toList();
      }
    };
  }

  private static DeliveryOutcome paused() {
    return new CredentialFault(0, CredentialLookup.Paused.REASON);
  }

  private static boolean isAccepted(DeliveryOutcome outcome) {
    return outcome instanceof DeliveryOutcome.Remedied remedied
        ? isAccepted(remedied.then())
        : outcome instanceof DeliveryOutcome.Accepted;
  }

  /// Tells the standing about the answer, and adds to the outcome what came of it.
  ///
  /// @param taken whether the same answer accepts a device
  private static DeliveryOutcome told(
      CredentialStanding standing, Addressee to, DeliveryOutcome answer, boolean taken) {
    if (answer
        instanceof DeliveryOutcome.Remedied(int status, String reason, String remedy, var then)) {
      return new DeliveryOutcome.Remedied(status, reason, remedy, told(standing, to, then, taken));
    }
    DeliveryOutcome outcome = to == Addressee.DEVICE ? answer : withoutToken(answer);
    boolean speaks =
        !(taken && outcome.evidence() == Evidence.DOUBTED)
            && switch (to) {
              case DEVICE, LIVE_ACTIVITY -> true;
              case CHANNEL ->
                  outcome instanceof DeliveryOutcome.Accepted || outcome instanceof CredentialFault;
              case TOPIC -> outcome instanceof CredentialFault;
            };
    if (speaks) {
      tell(standing, outcome);
    }
    boolean paused = standing.pausedBecause().isPresent();
    if (outcome instanceof CredentialFault fault && fault.evidence() != Evidence.NONE) {
      return fault.after(paused ? PAUSED : "credential in doubt");
    }
    // Nearly every token gets this answer, so it is not this one's fault: the message waits with
    // those that were not sent.
    return paused && speaks && outcome.evidence() == Evidence.DOUBTED
        ? new CredentialFault(outcome.status(), outcome.reason(), PAUSED, null, outcome.evidence())
        : outcome;
  }

  /// Turns an answer about a token into a rejection, so that no token is given up. A token that
  /// came with the message may be anything: that it is at fault says nothing about the credential.
  private static DeliveryOutcome withoutToken(DeliveryOutcome outcome) {
    return switch (outcome) {
      case DeliveryOutcome.TokenGone(int status, String reason, var _, Evidence evidence) ->
          new Rejected(
              status, reason, null, evidence == Evidence.DOUBTED ? Evidence.NONE : evidence);
      case DeliveryOutcome.TokenForeign(int status, String reason) ->
          new Rejected(status, reason, null, Evidence.NONE);
      case DeliveryOutcome.Remedied _,
          DeliveryOutcome.Accepted _,
          DeliveryOutcome.Expired _,
          DeliveryOutcome.InternalError _,
          Rejected _,
          TryAgain _,
          PutOff _,
          CredentialFault _ ->
          outcome;
    };
  }

  private static void tell(CredentialStanding standing, DeliveryOutcome outcome) {
    switch (outcome.evidence()) {
      case TAKEN -> standing.taken();
      case DOUBTED -> standing.doubted(outcome.reason());
      case REFUSED -> standing.refused(outcome.reason());
      case NONE -> {}
    }
  }
}
