package io.pushplanet.load.bench.fault;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import org.junit.jupiter.api.Test;

class LegSightingsTest {
  private static final DeviceId ID = new DeviceId("d1");

  @Test
  void a_message_of_a_former_leg_is_only_counted() {
    LegSightings sightings = new LegSightings();
    sightings.begin(0x0190_1234_5678L);

    sightings.arrived(ID, "01901234-5677-7000-8000-000000000000", 1);
    sightings.arrived(ID, "01901234-5678-7000-8000-000000000000", 2);

    assertThat(sightings.repeatsOfFormerLegs()).isEqualTo(1);
    assertThat(sightings.seen().total()).isEqualTo(1);
  }

  @Test
  void a_leg_begins_without_sightings() {
    LegSightings sightings = new LegSightings();
    sightings.arrived(ID, "01901234-5678-7000-8000-000000000000", 1);

    sightings.begin(0x0190_1234_5679L);

    assertThat(sightings.seen().total()).isZero();
  }
}
