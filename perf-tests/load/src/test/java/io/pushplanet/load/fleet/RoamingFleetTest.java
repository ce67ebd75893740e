package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.load.fleet.FleetTest.AcceptingServer;
import io.pushplanet.load.mqtt.MqttVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RoamingFleetTest {
  private static final Duration SOON = Duration.ofSeconds(60);
  private static final DeviceId ID = new DeviceId("d1");
  private static final Device DEVICE =
      new Device(new AppId("shop"), ID, new Secret("secret"), MqttVersion.V5);

  private final List<AcceptingServer> servers =
      List.of(new AcceptingServer(), new AcceptingServer());
  private final Sightings sightings = new Sightings();
  private final RoamingFleet fleet =
      RoamingFleet.start(
          servers.stream().map(AcceptingServer::address).toList(),
          new FleetSettings(
              Duration.ofSeconds(60), Duration.ofMillis(1), Duration.ofMillis(10), 8, SOON),
          sightings,
          new SplittableRandom(1));

  @AfterEach
  void close() throws IOException {
    fleet.close();
    for (var server : servers) {
      server.close();
    }
  }

  @Test
  void a_device_that_connects_to_two_nodes_is_settled_once_one_of_them_lets_go() throws Exception {
    fleet.add(List.of(DEVICE));
    assertThat(fleet.awaitOneEach(List.of(ID), SOON)).isEmpty();
    int here = fleet.standing().get(ID);
    int there = 1 - here;

    fleet.race(List.of(new RoamingFleet.Race(ID, List.of(there))));

    Eventually.within(SOON, () -> assertThat(fleet.stays()).hasSize(2));
    assertThat(fleet.standing()).doesNotContainKey(ID);
    servers.get(there).send("d1", 7, "{\"id\":\"m1\"}");
    Eventually.within(SOON, () -> assertThat(sightings.times(ID, "m1")).isOne());
    servers.get(here).cut("d1");
    assertThat(fleet.awaitOneEach(List.of(ID), SOON)).isEmpty();
    assertThat(fleet.standing()).containsEntry(ID, there);
    assertThat(fleet.settled().getTotalCount()).isOne();
    assertThat(fleet.stays())
        .filteredOn(stay -> stay.node() == there)
        .singleElement()
        .satisfies(stay -> assertThat(stay.messages()).isOne());
  }

  @Test
  void a_device_without_a_connection_comes_back_by_itself() {
    fleet.add(List.of(DEVICE));
    assertThat(fleet.awaitOneEach(List.of(ID), SOON)).isEmpty();

    servers.get(fleet.standing().get(ID)).cut("d1");

    Eventually.within(SOON, () -> assertThat(fleet.stays()).hasSize(2));
    assertThat(fleet.awaitOneEach(List.of(ID), SOON)).isEmpty();
  }
}
