package io.pushplanet.cm.session;

import io.pushplanet.common.session.SessionDirectory;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/// Whether gateways may have taken this node for gone meanwhile. For the thread that sends the heartbeats.
public final class LeaseWatch {
  private @Nullable Instant renewedAt;

  /// The lease was renewed, as of `at`.
  ///
  /// @param known whether the directory still had the one before
  /// @return whether it had run out before, or was lost with everything else: what came for this node's devices was parked,
  ///     and nobody told it
  public boolean renewed(Instant at, boolean known) {
    var before = renewedAt;
    renewedAt = at;
    return before != null && (!known || before.plus(SessionDirectory.LEASE).isBefore(at));
  }
}
