package io.pushplanet.cm.session;

import java.util.List;

/// Notes how its message ended.
public final class RecordedOrigin implements OutboundMessage.Origin {
  public boolean written;

  private final List<Settlement> settled;

  /// @param settled gets the message's end; several origins may share it
  public RecordedOrigin(List<Settlement> settled) {
    this.settled = settled;
  }

  @Override
  public void written() {
    written = true;
  }

  @Override
  public void settled(OutboundMessage message, Settlement settlement) {
    settled.add(settlement);
  }
}
