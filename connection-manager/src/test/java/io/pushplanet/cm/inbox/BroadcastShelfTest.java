package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.util.List;
import org.junit.jupiter.api.Test;

class BroadcastShelfTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));

  private final InboxRow own = row(1, 30, 0);
  private final InboxRow early = row(2, 10, 9);
  private final InboxRow heldBack = row(3, 50, 10);
  private final InboxRow behindIt = row(4, 20, 11);

  @Test
  void no_list_overtakes_one_that_waits_for_the_next_page() {
    var page =
        BroadcastShelf.merged(
            new InboxPage.Rows(List.of(own), true),
            new InboxPage.Rows(List.of(early, heldBack, behindIt), false));

    assertThat(page.rows()).containsExactly(early, own);
    assertThat(page.more()).isTrue();
  }

  @Test
  void behind_all_rows_of_its_own_a_device_gets_every_list() {
    var page =
        BroadcastShelf.merged(
            new InboxPage.Rows(List.of(own), false),
            new InboxPage.Rows(List.of(early, heldBack, behindIt), false));

    assertThat(page.rows()).containsExactlyInAnyOrder(own, early, heldBack, behindIt);
    assertThat(page.rows())
        .filteredOn(InboxRow::isBroadcast)
        .containsExactly(early, heldBack, behindIt);
  }

  private static InboxRow row(int number, long parkedAtMillis, long seq) {
    return new InboxRow(
        DEVICE,
        "slot-" + number,
        new MessageId("0190b8a0-0000-7000-8000-00000000000" + number),
        Binary.of("payload"),
        parkedAtMillis,
        1_000,
        seq,
        InboxRow.Fate.DUE);
  }
}
