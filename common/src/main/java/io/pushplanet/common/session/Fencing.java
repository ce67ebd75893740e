package io.pushplanet.common.session;

import io.pushplanet.common.node.NodeId;
import org.jspecify.annotations.Nullable;

/// Which node may act for a device, decided by epochs alone. Pure functions: nodes, gateways and
/// the simulator share them.
public final class Fencing {
  private Fencing() {}

  /// What the directory's entry means for a session that a node holds.
  public sealed interface Tenure {
    /// The directory names the same session.
    record Kept() implements Tenure {}

    /// The directory does not know the session (any more), or knows an older one: announce it.
    record Unknown() implements Tenure {}

    /// This node has claimed the device again, for a connection that is not established (yet).
    record Renewed(long epoch) implements Tenure {}

    /// Another node has the device: deliver nothing, believe nothing, close.
    record Lost(SessionOwner owner) implements Tenure {}
  }

  /// When two nodes have the same epoch, because both chose it while Redis was away, the one
  /// announced first stays.
  ///
  /// @param owner as the directory has it; null for none
  public static Tenure judge(NodeId node, long epoch, @Nullable SessionOwner owner) {
    if (owner == null) {
      return new Tenure.Unknown();
    }
    if (!owner.node().equals(node)) {
      return owner.epoch() >= epoch ? new Tenure.Lost(owner) : new Tenure.Unknown();
    }
    if (owner.epoch() > epoch) {
      return new Tenure.Renewed(owner.epoch());
    }
    return owner.epoch() == epoch ? new Tenure.Kept() : new Tenure.Unknown();
  }

  /// Whether a node may deliver over a session for a gateway that saw this epoch in the directory.
  /// A session older than the epoch that the gateway saw has been taken over, whether or not the
  /// node knows it yet.
  ///
  /// @param seen null from a gateway that does not send it
  public static boolean mayDeliver(@Nullable Long seen, long held) {
    return seen == null || held >= seen;
  }

  /// Whether a gateway that saw one epoch accepts an outcome under another.
  ///
  /// @param seen null where the gateway did not look it up
  /// @param answered null from a node that does not send it
  public static boolean settles(@Nullable Long seen, @Nullable Long answered) {
    return seen == null || answered == null || answered >= seen;
  }
}
