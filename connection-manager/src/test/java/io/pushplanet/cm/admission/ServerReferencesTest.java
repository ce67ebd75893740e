package io.pushplanet.cm.admission;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.link.ListenerKind;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ServerReferencesTest {
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

  private static ServerReferences references(String set, NodeLease... nodes) {
    var references = new ServerReferences(set, new Random(1));
    references.update(List.of(nodes));
    return references;
  }

  @Test
  void a_device_is_told_the_address_for_its_own_transport() {
    var references = references("", node("n2", 5));

    assertThat(references.reference(ListenerKind.MQTT)).contains("n2:1883");
    assertThat(references.reference(ListenerKind.TLS)).contains("n2:8883");
    // Such a device knows a URL, and would send its upgrade to this port.
    assertThat(references.reference(ListenerKind.WEB_SOCKET)).isEmpty();
    assertThat(references.hasOtherNode()).isTrue();
  }

  @ParameterizedTest
  @EnumSource(ListenerKind.class)
  void the_configured_address_is_told_to_all_devices(ListenerKind kind) {
    assertThat(references("push.example.com:443", node("n2", 5)).reference(kind))
        .contains("push.example.com:443");
  }

  @Test
  void the_emptier_of_two_nodes_is_named_more_often() {
    var references = references("", node("full", 1_000), node("empty", 10));
    int empty = 0;
    for (int i = 0; i < 1_000; i++) {
      if (references.reference(ListenerKind.MQTT).orElseThrow().startsWith("empty")) {
        empty++;
      }
    }

    assertThat(empty).isBetween(650, 850);
  }

  @ParameterizedTest
  @EnumSource(ListenerKind.class)
  void without_another_node_there_is_no_address(ListenerKind kind) {
    assertThat(references("").reference(kind)).isEmpty();
    assertThat(references("").hasOtherNode()).isFalse();
  }
}
