package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DescriptorsTest {
  @Test
  void devices_leave_256_descriptors_to_others() {
    var descriptors = new Descriptors(20_000);

    descriptors.opened(19_743);
    assertThat(descriptors.areScarce()).isFalse();
    descriptors.opened(1);
    assertThat(descriptors.areScarce()).isTrue();
    descriptors.closed(1);
    assertThat(descriptors.areScarce()).isFalse();
  }

  @Test
  void a_quarter_of_few_descriptors_is_left_to_others() {
    var descriptors = new Descriptors(400);

    descriptors.opened(300);

    assertThat(descriptors.areScarce()).isTrue();
    assertThat(descriptors.reserve()).isEqualTo(100);
  }

  @Test
  void more_sessions_than_descriptors_beside_the_reserve_are_too_many() {
    var descriptors = new Descriptors(20_000);

    assertThat(descriptors.suffice(19_744)).isTrue();
    assertThat(descriptors.suffice(19_745)).isFalse();
    assertThat(new Descriptors(Long.MAX_VALUE).suffice(Integer.MAX_VALUE)).isTrue();
  }

  @Test
  void the_limit_of_this_process_is_known() {
    assertThat(Descriptors.ofThisProcess().limit()).isBetween(64L, Long.MAX_VALUE - 1);
  }
}
