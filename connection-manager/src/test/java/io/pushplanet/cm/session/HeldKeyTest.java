package io.pushplanet.cm.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import java.util.UUID;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeldKeyTest {
  private static final AppId SHOP = new AppId("shop");

  @RepeatedTest(20)
  void a_uuid_is_held_as_its_number_and_comes_back_as_it_was() {
    var device = device(UUID.randomUUID().toString());

    var held = HeldKey.of(device);

    assertThat(held).isInstanceOf(HeldKey.Uuid.class).isEqualTo(HeldKey.of(device));
    assertThat(held.device()).isEqualTo(device);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "phone-1",
        "0190B8A0-0000-7000-8000-000000000001",
        "0190b8a0-0000-7000-8000-00000000000",
        "0190b8a0-0000-7000-8000-0000000000012",
        "0190b8a0.0000-7000-8000-000000000001",
        "0190b8a0-0000-7000-8000-00000000000g",
        "0190b8a000000-7000-8000-000000000001",
      })
  void an_id_that_is_no_lower_case_uuid_comes_back_unchanged(String id) {
    var device = device(id);

    var held = HeldKey.of(device);

    assertThat(held).isInstanceOf(HeldKey.Text.class);
    assertThat(held.device()).isEqualTo(device);
  }

  @Test
  void the_highest_and_the_lowest_digits_are_kept() {
    for (var id :
        new String[] {
          "ffffffff-ffff-ffff-ffff-ffffffffffff", "00000000-0000-0000-0000-000000000000"
        }) {
      assertThat(HeldKey.of(device(id)).device().device().value()).isEqualTo(id);
    }
  }

  @Test
  void the_same_id_of_another_app_is_another_device() {
    var id = new DeviceId("0190b8a0-0000-7000-8000-000000000001");

    assertThat(HeldKey.of(new DeviceKey(SHOP, id)))
        .isNotEqualTo(HeldKey.of(new DeviceKey(new AppId("bank"), id)));
  }

  private static DeviceKey device(String id) {
    return new DeviceKey(SHOP, new DeviceId(id));
  }
}
