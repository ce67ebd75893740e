package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class InboxPageTest {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));

  /// The message's number, then its list's.
  private final InboxRow own = row(2, 0);

  private final List<InboxRow> broadcasts = List.of(row(3, 9), row(1, 10), row(4, 11));

  @Test
  void everything_comes_by_message_in_whichever_order_lists_were_parked() {
    var page = new InboxPage.Rows(List.of(own), false).with(broadcasts);

    assertThat(page.rows())
        .extracting(InboxRow::message)
        .containsExactlyElementsOf(ids(1, 2, 3, 4));
    assertThat(page.rows()).extracting(InboxRow::fate).containsOnly(InboxRow.Fate.DUE);
  }

  @Test
  void a_position_passes_no_list_whose_turn_is_still_to_come() {
    var page = new InboxPage.Rows(List.of(own), false).with(broadcasts);

    assertThat(page.rows()).extracting(InboxRow::position).containsExactly(8L, 0L, 10L, 11L);
  }

  @Test
  void broadcasts_newer_than_an_incomplete_page_wait_for_the_next() {
    var page = new InboxPage.Rows(List.of(own), true).with(broadcasts);

    assertThat(page.rows()).extracting(InboxRow::message).containsExactlyElementsOf(ids(1, 2));
    assertThat(page.rows()).extracting(InboxRow::position).containsExactly(8L, 0L);
    assertThat(page.more()).isTrue();
  }

  @Test
  void broadcasts_of_a_device_without_room_in_a_statement_wait_too() {
    assertThat(new InboxPage.Rows(List.of(), true).with(broadcasts))
        .isEqualTo(new InboxPage.Rows(List.of(), true));
  }

  @Test
  void a_message_of_two_lists_and_a_row_is_due_once() {
    var page =
        new InboxPage.Rows(List.of(row(1, 0)), false)
            .with(List.of(row(1, 9), row(2, 10), row(1, 11)));

    assertThat(page.rows())
        .extracting(InboxRow::fate)
        .containsExactly(
            InboxRow.Fate.DUE, InboxRow.Fate.REPEAT, InboxRow.Fate.REPEAT, InboxRow.Fate.DUE);
    assertThat(page.rows()).extracting(InboxRow::position).containsExactly(0L, 9L, 9L, 11L);
  }

  @Test
  void a_newer_message_that_is_over_displaces_no_older_one_of_its_collapse_key() {
    for (var over : List.of(InboxRow.Fate.EXPIRED, InboxRow.Fate.CANCELLED)) {
      var newer = row(2, "slot-1", 10, over);
      assertThat(new InboxPage.Rows(List.of(), false).with(List.of(row(1, 9), newer)).rows())
          .extracting(InboxRow::fate)
          .containsExactly(InboxRow.Fate.DUE, over);
      assertThat(new InboxPage.Rows(List.of(row(1, 0)), false).with(List.of(newer)).rows())
          .extracting(InboxRow::fate)
          .containsExactly(InboxRow.Fate.DUE, over);
    }
  }

  private static List<MessageId> ids(int... numbers) {
    return IntStream.of(numbers).mapToObj(InboxPageTest::id).toList();
  }

  private static MessageId id(int number) {
    return new MessageId("0190b8a0-0000-7000-8000-00000000000" + number);
  }

  private static InboxRow row(int number, long seq) {
    return row(number, "slot-" + number, seq, InboxRow.Fate.DUE);
  }

  private static InboxRow row(int number, String slot, long seq, InboxRow.Fate fate) {
    return new InboxRow(DEVICE, slot, id(number), Binary.of("payload"), 1_000, seq, seq, fate);
  }
}
