package io.pushplanet.gateway.credential;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.AppId;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Watches the answers to messages that are sent with one credential, and pauses when the provider
/// refuses it. Some answers say so outright. Others may be the fault of a token or of the
/// credential, and count when nearly every token gets them. Thread-safe; a pause blocks on the
/// database.
public final class CredentialStanding {
  /// So many doubtful answers within [#WINDOW], with hardly any other, are no accident.
  static final int FEWEST_DOUBTS = 50;

  static final int DOUBTED_PERCENT = 90;
  static final Duration WINDOW = Duration.ofMinutes(1);

  final long id;
  final AppId app;
  final String provider;
  final String environment;
  private final Clock clock;
  private final CredentialPauses pauses;

  /// Set at once, before the database and the other workers know.
  private volatile @Nullable String paused;

  /// Null until the first doubtful answer: most credentials never get one and need not count.
  private volatile @Nullable Instant countingSince;

  @GuardedBy("this")
  private int answers;

  @GuardedBy("this")
  private int doubts;

  /// @param clock one that is never set back, or doubts would count for longer by as much
  CredentialStanding(
      long id,
      AppId app,
      String provider,
      String environment,
      Clock clock,
      CredentialPauses pauses) {
    this.id = id;
    this.app = app;
    this.provider = provider;
    this.environment = environment;
    this.clock = clock;
    this.pauses = pauses;
  }

  /// The provider's word when nothing is to be sent now.
  public Optional<String> pausedBecause() {
    return Optional.ofNullable(paused);
  }

  /// An answer that says nothing against the credential.
  public void taken() {
    if (countingSince != null) {
      count(false);
    }
  }

  /// The provider refuses the credential.
  public void refused(String reason) {
    pause(reason, CredentialPauses.FIRST_PROBE);
  }

  /// The token or the credential is at fault.
  public void doubted(String reason) {
    if (count(true)) {
      pause(reason + CredentialPauses.BY_NEARLY_EVERY_DEVICE, CredentialPauses.FIRST_TRIAL);
    }
  }

  private synchronized boolean count(boolean doubtful) {
    Instant now = clock.instant();
    Instant since = countingSince;
    if (since == null || since.plus(WINDOW).isBefore(now)) {
      countingSince = doubtful ? now : null;
      answers = 0;
      doubts = 0;
      if (!doubtful) {
        return false;
      }
    }
    answers++;
    doubts += doubtful ? 1 : 0;
    return doubts >= FEWEST_DOUBTS && doubts * 100 >= answers * DOUBTED_PERCENT;
  }

  private void pause(String reason, Duration firstProbe) {
    synchronized (this) {
      if (paused != null) {
        return;
      }
      paused = reason;
    }
    if (!pauses.pause(this, reason, firstProbe)) {
      paused = null;
    }
  }
}
