package io.pushplanet.cm.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ListRangesTest {
  private static final MessageId MESSAGE = new MessageId("0190ca10-0000-7000-8000-000000000000");

  /// Most lists are narrow, as a fan-out by device ids makes them, some are as wide as a topic.
  @Test
  void finds_exactly_the_lists_whose_range_a_device_is_in() {
    for (long seed = 0; seed < 200; seed++) {
      var random = new Random(seed);
      int ids = 1 + random.nextInt(200);
      List<BroadcastList> lists = new ArrayList<>();
      int count = random.nextInt(300);
      for (int seq = 1; seq <= count; seq++) {
        int first = random.nextInt(ids);
        int width = random.nextInt(10) == 0 ? ids : 1 + random.nextInt(8);
        lists.add(
            new BroadcastList(
                seq, MESSAGE, 0, id(first), id(Math.min(ids - 1, first + random.nextInt(width)))));
      }
      var ranges = new ListRanges(lists);

      for (int n = 0; n < ids; n++) {
        var device = new DeviceId(id(n));
        List<BroadcastList> found = new ArrayList<>();
        ranges.forEach(device, found::add);

        assertThat(found)
            .as("seed %d, %s", seed, device)
            .containsExactlyInAnyOrderElementsOf(
                lists.stream().filter(list -> list.mayName(device)).toList());
      }
      assertThat(ranges.all()).containsExactlyInAnyOrderElementsOf(lists);
    }
  }

  private static String id(int number) {
    return String.format(Locale.ROOT, "d%03d", number);
  }
}
