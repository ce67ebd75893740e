package io.pushplanet.gateway.provider;

import io.pushplanet.gateway.connection.Reply;
import io.pushplanet.gateway.connection.Reply.Answered;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The outcome of one try at a provider. `status` is the HTTP status (0 when no answer came),
/// `reason` the provider's own word (`BadDeviceToken`, `UNREGISTERED`) or ours (`timeout`,
/// `no_credential`).
public sealed interface DeliveryOutcome {
  int status();

  String reason();

  /// What it says about the app's credential. Without an answer of the provider it says nothing.
  default Evidence evidence() {
    return Evidence.NONE;
  }

  /// What an answer says about the credential with which the message was sent.
  enum Evidence {
    /// The provider takes it.
    TAKEN,
    /// The provider does not take it, or the token is at fault. With swapped keys, projects or
    /// environments nearly every token gets such an answer.
    DOUBTED,
    /// The provider refuses it.
    REFUSED,
    NONE;

    private static Evidence whenAsked(int status, Evidence answer) {
      return status > 0 ? answer : NONE;
    }
  }

  /// The outcome of a request. Without an answer the message is tried again.
  ///
  /// @param meaning what the vendor's answer means
  static DeliveryOutcome of(Reply reply, Function<Answered, DeliveryOutcome> meaning) {
    return switch (reply) {
      case Answered answered -> meaning.apply(answered);
      case Reply.NotSent(String why) -> new TryAgain(0, why, null, false);
      case Reply.NoAnswer(String why) -> new TryAgain(0, why, null, true);
      case Reply.Expired() -> new Expired();
    };
  }

  /// @param providerId APNs' `apns-id`, FCM's `name`, Push Kit's `requestId`, a push service's
  ///     `Location`
  record Accepted(int status, String reason, @Nullable String providerId)
      implements DeliveryOutcome {
    @Override
    public Evidence evidence() {
      return Evidence.TAKEN;
    }
  }

  /// Permanent, and no fault of the token: never retried.
  ///
  /// @param detail how the provider explains it ([Explanation]); null when it does not
  record Rejected(int status, String reason, @Nullable String detail, Evidence evidence)
      implements DeliveryOutcome {
    public Rejected(int status, String reason, @Nullable String detail) {
      this(status, reason, detail, Evidence.whenAsked(status, Evidence.TAKEN));
    }

    public Rejected(int status, String reason) {
      this(status, reason, null);
    }
  }

  /// The message's time to live ended just before it would have been written: it was not sent.
  record Expired() implements DeliveryOutcome {
    @Override
    public int status() {
      return 0;
    }

    @Override
    public String reason() {
      return "ttl";
    }
  }

  /// The token is dead: forget it if it was registered before `since` and is still the same.
  record TokenGone(int status, String reason, Instant since, Evidence evidence)
      implements DeliveryOutcome {
    /// Through no fault of the credential.
    public TokenGone(int status, String reason, Instant since) {
      this(status, reason, since, Evidence.TAKEN);
    }
  }

  /// The token belongs to another app or project: detach it from this app, and tell the operator.
  record TokenForeign(int status, String reason) implements DeliveryOutcome {
    @Override
    public Evidence evidence() {
      return Evidence.DOUBTED;
    }
  }

  /// Not now, and it counts as a try. `after` is the least wait that the provider asks for, null
  /// when it asks for none.
  ///
  /// @param ambiguous whether the provider may have taken the message (timeout, reset, 503)
  /// @param done what was done about it, for the timeline; null when the message only waits
  record TryAgain(
      int status, String reason, @Nullable Duration after, boolean ambiguous, @Nullable String done)
      implements DeliveryOutcome {
    public TryAgain(int status, String reason, @Nullable Duration after, boolean ambiguous) {
      this(status, reason, after, ambiguous, null);
    }
  }

  /// Not now, through no fault of the message: its provider wants a pause, or the limits leave no
  /// room for it. It does not count as a try.
  ///
  /// @param status 0 when no request was made
  /// @param after the least wait
  /// @param done as [TryAgain#done]
  record PutOff(int status, String reason, Duration after, @Nullable String done)
      implements DeliveryOutcome {
    /// The vendor's quota for all messages of the app is used up until then.
    public static final String PROJECT_QUOTA = "project_quota_rest";

    public PutOff(int status, String reason, Duration after) {
      this(status, reason, after, null);
    }
  }

  /// The cause of the provider's first answer was mended at once. `then` is the outcome of the
  /// second try.
  ///
  /// @param remedy what was done, for the timeline
  record Remedied(int status, String reason, String remedy, DeliveryOutcome then)
      implements DeliveryOutcome {}

  /// The worker failed at the message: a bug of ours.
  ///
  /// @param what for people
  record InternalError(String what) implements DeliveryOutcome {
    public static final String REASON = "internal_error";

    @Override
    public int status() {
      return 0;
    }

    @Override
    public String reason() {
      return REASON;
    }
  }

  /// The app's credential is unreadable or refused: pause it, keep the message until its TTL, tell
  /// the operator.
  ///
  /// @param done as [TryAgain#done]
  /// @param detail as [Rejected#detail]
  /// @param evidence [Evidence#NONE] when another credential than the app's is at fault
  record CredentialFault(
      int status, String reason, @Nullable String done, @Nullable String detail, Evidence evidence)
      implements DeliveryOutcome {
    public CredentialFault(int status, String reason) {
      this(status, reason, null, null, Evidence.whenAsked(status, Evidence.REFUSED));
    }

    public CredentialFault after(String done) {
      return new CredentialFault(status, reason, done, detail, evidence);
    }
  }
}
