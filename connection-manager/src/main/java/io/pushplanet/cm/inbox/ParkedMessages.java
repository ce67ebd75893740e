package io.pushplanet.cm.inbox;

import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DeviceKey;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The parked messages of all devices, as one device's [InboxDrain] sees them. Thread-safe; callers
/// never wait.
public interface ParkedMessages {
  /// Is told once that a row needs no more work.
  interface Then {
    /// @param told whether the row's end was told; otherwise the row comes again
    void done(boolean told);
  }

  /// Reads a device's inbox. `then` runs on the loop, once.
  void read(DeviceKey device, Loop loop, Consumer<InboxPage> then);

  /// A row's message was sent to its device, this long after the read was requested.
  void written(long tookNanos);

  /// The device acknowledged the row's message. `then` runs when the row is gone, or when this node
  /// gives up deleting it.
  ///
  /// @param lateAt the time of an acknowledgement that was told already
  void delivered(InboxRow row, @Nullable Instant lateAt, Then then);

  /// The device will never take the row's message.
  void failed(InboxRow row, Settlement.Refused why, Then then);

  /// The row must not be sent to the device any more; its [InboxRow.Fate] says why.
  void over(InboxRow row, Then then);
}
