package io.pushplanet.cm.directory;

import io.pushplanet.common.session.SessionDirectory;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Whether gateways may have taken this node for gone meanwhile. Thread-safe.
public final class LeaseWatch {
  /// Gateways act for another second on the leases they read last: the look at the next heartbeat is for what they parked
  /// in it.
  private static final int LOOKS = 2;

  private @Nullable Instant renewedAt;
  private int looksLeft = LOOKS;

  /// The lease was renewed, as of `at`; until `answered` the one before was all that gateways could read.
  ///
  /// @param known whether the directory still had the one before
  /// @return whether it had run out before, or was lost with everything else: what came for this node's devices was parked,
  ///     and nobody told it
  synchronized boolean renewed(Instant at, Instant answered, boolean known) {
    var before = renewedAt;
    renewedAt = at;
    return before != null && (!known || before.plus(SessionDirectory.LEASE).isBefore(answered));
  }

  /// The same for whoever looks into inboxes: also true of the first renewal of all, because devices come in before it and
  /// what is for them is parked, and again of the renewal after each of these.
  public synchronized boolean mayHaveMissed(Instant at, Instant answered, boolean known) {
    if (renewed(at, answered, known)) {
      looksLeft = LOOKS;
    }
    if (looksLeft == 0) {
      return false;
    }
    looksLeft--;
    return true;
  }
}
