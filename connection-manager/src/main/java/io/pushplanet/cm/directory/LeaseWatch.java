package io.pushplanet.cm.directory;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.session.SessionDirectory;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Tells whether gateways may have believed that this node was gone. Thread-safe.
public final class LeaseWatch {
  /// Gateways use the leases that they read last for another second. The check at the next
  /// heartbeat finds the messages that they parked in this second.
  private static final int CHECKS = 2;

  @GuardedBy("this")
  private @Nullable Instant renewedAt;

  @GuardedBy("this")
  private int checksLeft = CHECKS;

  /// The lease was renewed as of `at`; until `answered` gateways read the former one.
  ///
  /// @param known whether the directory still had the former lease
  /// @return whether the former lease had run out or was lost: gateways then parked the messages
  ///     for this node's devices, and told this node nothing
  synchronized boolean renewed(Instant at, Instant answered, boolean known) {
    Instant before = renewedAt;
    renewedAt = at;
    return before != null && (!known || before.plus(SessionDirectory.LEASE).isBefore(answered));
  }

  /// Whether inboxes must be checked. As [#renewed], but also true for the first renewal, because
  /// devices connect before it and their messages are parked, and again for the renewal after each
  /// of these.
  public synchronized boolean mayHaveMissed(Instant at, Instant answered, boolean known) {
    if (renewed(at, answered, known)) {
      checksLeft = CHECKS;
    }
    if (checksLeft == 0) {
      return false;
    }
    checksLeft--;
    return true;
  }
}
