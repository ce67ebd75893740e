package io.pushplanet.common.node;

import io.pushplanet.common.access.ExpiringToken;
import io.pushplanet.common.access.ExpiringToken.Verdict;
import io.pushplanet.common.access.MasterKey;
import java.time.Clock;
import java.time.Duration;

/// The pass by which one of our processes proves to a node's management port that it may give
/// orders: an [ExpiringToken] for one node. It is valid for [#VALIDITY], so that a stolen pass is
/// soon worthless. Thread-safe.
public final class NodePass {
  /// Long enough for clocks that are half a minute apart.
  public static final Duration VALIDITY = Duration.ofMinutes(1);

  private final ExpiringToken passes;
  private final Clock clock;

  public NodePass(MasterKey masterKey, Clock clock) {
    this.passes = new ExpiringToken(masterKey, "node-pass", clock);
    this.clock = clock;
  }

  public String mint(NodeId node) {
    return passes.mint(node.value(), clock.instant().plus(VALIDITY).getEpochSecond());
  }

  /// Whether one of our processes made the pass for this node, and it has not expired.
  public boolean isValid(NodeId node, String pass) {
    return passes.verify(node.value(), pass) instanceof Verdict.Valid;
  }
}
