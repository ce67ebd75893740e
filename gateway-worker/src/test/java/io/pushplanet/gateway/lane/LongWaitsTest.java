package io.pushplanet.gateway.lane;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.AppId;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LongWaitsTest {
  private static final AppId SHOP = new AppId("shop");
  private static final AppId BANK = new AppId("bank");

  private final LongWaits waits = new LongWaits(1_024);

  /// Takes batches with so many recipients until one may not wait long.
  private int fill(AppId app, int recipients) {
    int granted = 0;
    while (waits.take(Set.of(app), recipients).to(app)) {
      granted++;
    }
    return granted;
  }

  @Test
  void an_app_alone_has_a_quarter_of_the_lane_and_leaves_as_much_to_others() {
    assertThat(fill(SHOP, 64)).isEqualTo(4);
    assertThat(fill(BANK, 1)).isEqualTo(128);
    assertThat(fill(new AppId("third"), 1)).isEqualTo(64);
  }

  @Test
  void a_batch_that_has_ended_makes_room() {
    LongWaits.Granted first = waits.take(Set.of(SHOP), 64);
    fill(SHOP, 64);

    first.close();

    assertThat(fill(SHOP, 64)).isEqualTo(1);
  }

  @Test
  void apps_that_keep_a_batch_in_hand_share_its_recipients() {
    try (LongWaits.Granted both = waits.take(Set.of(SHOP, BANK), 256)) {
      assertThat(both.to(SHOP)).isTrue();
      assertThat(both.to(BANK)).isTrue();
    }
  }

  @Test
  void a_batch_that_leaves_less_than_it_takes_waits_as_usual() {
    assertThat(waits.take(Set.of(SHOP), 257).to(SHOP)).isFalse();
    assertThat(waits.take(Set.of(SHOP), 256).to(SHOP)).isTrue();
  }
}
