package io.pushplanet.common.session;

import org.jspecify.annotations.Nullable;

/// Who may act for a device, decided by epochs alone. Pure: nodes, gateways and the simulator ask the same questions here.
public final class Fencing {
  private Fencing() {}

  /// What the directory's word means for a session that a node holds.
  public sealed interface Tenure {
    /// The directory says so too.
    record Kept() implements Tenure {}

    /// The directory does not know it (any more), or knows an older one: announce it.
    record Unknown() implements Tenure {}

    /// This node claimed the device again, for a connection that has not come to be (yet).
    record Renewed(long epoch) implements Tenure {}

    /// Another node has the device: deliver nothing, believe nothing, close.
    record Lost(SessionOwner owner) implements Tenure {}
  }

  /// Of two nodes with the same epoch (both made it up while Redis was away) the one that was announced first stays.
  ///
  /// @param owner as the directory has it; null when it has none
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

  /// Whether a node may deliver over a session for a gateway that saw this epoch in the directory. A session that is older
  /// than what the gateway saw has been taken over, whether or not the node has heard of it.
  ///
  /// @param seen null from a gateway that does not say
  public static boolean mayDeliver(@Nullable Long seen, long held) {
    return seen == null || held >= seen;
  }

  /// Whether a gateway that saw one epoch believes an outcome that comes under another.
  ///
  /// @param seen null where nobody looked
  /// @param answered null from a node that does not say
  public static boolean settles(@Nullable Long seen, @Nullable Long answered) {
    return seen == null || answered == null || answered >= seen;
  }
}
