package io.pushplanet.cm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.link.Door;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ElsewhereTest {
  private static NodeLease node(String name, int sessions) {
    return new NodeLease(
        new NodeId(name),
        "10.0.0.1",
        1884,
        1883,
        9083,
        sessions,
        false,
        Instant.EPOCH,
        name + ":1883",
        name + ":8883");
  }

  private static Elsewhere elsewhere(String set, NodeLease... nodes) {
    var elsewhere = new Elsewhere(set, new Random(1));
    elsewhere.know(List.of(nodes));
    return elsewhere;
  }

  @Test
  void a_device_is_named_an_address_that_speaks_as_it_does() {
    var elsewhere = elsewhere("", node("n2", 5));

    assertThat(elsewhere.reference(Door.MQTT)).contains("n2:1883");
    assertThat(elsewhere.reference(Door.TLS)).contains("n2:8883");
    // It knows a URL, and would ask this port for an upgrade.
    assertThat(elsewhere.reference(Door.WEB_SOCKET)).isEmpty();
    assertThat(elsewhere.exists()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void the_address_that_is_set_is_for_all(Door door) {
    assertThat(elsewhere("push.example.com:443", node("n2", 5)).reference(door))
        .contains("push.example.com:443");
  }

  @Test
  void of_two_nodes_the_emptier_one_is_named_more_often() {
    var elsewhere = elsewhere("", node("full", 1_000), node("empty", 10));
    int empty = 0;
    for (int i = 0; i < 1_000; i++) {
      if (elsewhere.reference(Door.MQTT).orElseThrow().startsWith("empty")) {
        empty++;
      }
    }

    assertThat(empty).isBetween(650, 850);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void where_there_is_no_other_node_there_is_no_address(Door door) {
    assertThat(elsewhere("").reference(door)).isEmpty();
    assertThat(elsewhere("").exists()).isFalse();
  }
}
