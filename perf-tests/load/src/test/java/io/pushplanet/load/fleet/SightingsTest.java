package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SightingsTest {
  @TempDir private Path directory;

  @Test
  void saved_sightings_are_read_again() {
    Sightings sightings = new Sightings();
    sightings.arrived(new DeviceId("d1"), "m1", 0);
    sightings.arrived(new DeviceId("d1"), "m1", 0);
    sightings.arrived(new DeviceId("d2"), "m1", 0);
    Path file = directory.resolve("sightings");

    sightings.save(file);

    Sightings loaded = Sightings.load(file);
    assertThat(loaded.perDevice()).isEqualTo(sightings.perDevice());
    assertThat(loaded.total()).isEqualTo(3);
    assertThat(loaded.repeats()).isOne();
  }
}
