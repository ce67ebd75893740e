package io.pushplanet.gateway.intake;

import io.pushplanet.common.wire.DeadItem;
import java.io.Serial;
import java.util.List;

/// Some items of an AMQP message can never be handled, and everything else that it holds is
/// durable.
public final class DeadItems extends RuntimeException {
  @Serial private static final long serialVersionUID = 1;

  private final transient List<DeadItem> items;

  private DeadItems(List<DeadItem> items) {
    super(items.size() + " items can never be handled", null, false, false);
    this.items = List.copyOf(items);
  }

  /// @throws DeadItems when there is one
  public static void throwIfAny(List<DeadItem> items) {
    if (!items.isEmpty()) {
      throw new DeadItems(items);
    }
  }

  /// Each becomes a letter of its own, so that an operator can replay or drop it alone.
  public List<DeadItem> items() {
    return items;
  }
}
