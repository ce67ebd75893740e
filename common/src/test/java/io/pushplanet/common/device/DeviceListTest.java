package io.pushplanet.common.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class DeviceListTest {
  @Test
  void exactly_the_listed_devices_are_found() {
    var random = new SplittableRandom(1);
    for (int round = 0; round < 200; round++) {
      var listed = new TreeSet<DeviceId>();
      int size = 1 + random.nextInt(40);
      for (int device = 0; device < size; device++) {
        listed.add(device(random));
      }
      var list = DeviceList.of(listed);
      var asked = new ArrayList<>(listed);
      for (int device = 0; device < 40; device++) {
        asked.add(device(random));
      }

      assertThat(asked)
          .allSatisfy(
              device -> assertThat(list.contains(device)).isEqualTo(listed.contains(device)));
      assertThat(list.devices()).containsExactlyElementsOf(listed);
      assertThat(list.first()).isEqualTo(listed.first());
      assertThat(list.last()).isEqualTo(listed.last());
    }
  }

  @Test
  void a_list_without_devices_is_refused() {
    assertThatThrownBy(() -> DeviceList.of(List.of())).isInstanceOf(IllegalArgumentException.class);
  }

  /// Short ids of few letters, so that many are a prefix of others.
  private static DeviceId device(SplittableRandom random) {
    var id = new StringBuilder();
    int length = 1 + random.nextInt(4);
    for (int letter = 0; letter < length; letter++) {
      id.append("aB0-._:z".charAt(random.nextInt(8)));
    }
    return new DeviceId(id.toString());
  }
}
