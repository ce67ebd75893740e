package io.pushplanet.cm.inbox;

import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DeviceKey;
import java.time.Instant;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// What waits for devices, as one device's [InboxDrain] sees it. Thread-safe; callers never wait.
public interface ParkedMessages {
  /// Hears once that there is nothing more to do for a row.
  interface Then {
    /// @param told whether its end was told; a row whose end was not told comes again
    void done(boolean told);
  }

  /// Reads a device's inbox. `then` runs on the loop, once.
  void read(DeviceKey device, Loop loop, Consumer<InboxPage> then);

  /// A row's message is on its way to its device, so long after the inbox was to be read.
  void written(long tookNanos);

  /// The device acknowledged the row's message. `then` runs when the row is gone (or never will be by our hand).
  ///
  /// @param lateAt when, if that was told already
  void delivered(InboxRow row, @Nullable Instant lateAt, Then then);

  /// The device will never take the row's message.
  void failed(InboxRow row, Settlement.Refused why, Then then);

  /// The row is not for the device any more: its [InboxRow.Fate] says why.
  void over(InboxRow row, Then then);
}
