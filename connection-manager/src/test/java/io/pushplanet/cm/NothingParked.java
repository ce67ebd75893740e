package io.pushplanet.cm;

import io.pushplanet.cm.inbox.InboxPage;
import io.pushplanet.cm.inbox.InboxRow;
import io.pushplanet.cm.inbox.ParkedMessages;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DeviceKey;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Empty inboxes.
final class NothingParked implements ParkedMessages {
  @Override
  public void read(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
    then.accept(new InboxPage.Rows(List.of(), false));
  }

  @Override
  public void written(long tookNanos) {
    throw new AssertionError("nothing is parked");
  }

  @Override
  public void delivered(InboxRow row, @Nullable Instant lateAt, Then then) {
    throw new AssertionError("nothing is parked");
  }

  @Override
  public void failed(InboxRow row, Settlement.Refused why, Then then) {
    throw new AssertionError("nothing is parked");
  }

  @Override
  public void over(InboxRow row, Then then) {
    throw new AssertionError("nothing is parked");
  }
}
