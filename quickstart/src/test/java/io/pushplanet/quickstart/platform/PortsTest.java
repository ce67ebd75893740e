package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.services.Port;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PortsTest {

  @Test
  void a_taken_port_is_refused_by_number_and_setting() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Ports ports = Ports.free(Map.of(Listener.MQTT_TLS, taken.getLocalPort()));

      assertThatExceptionOfType(StartRefused.class)
          .isThrownBy(() -> ports.resolved(PublicAddress.THIS_MACHINE))
          .withMessageContaining("port " + taken.getLocalPort())
          .withMessageContaining("--mqtt-tls-port")
          .satisfies(
              refused -> assertThat(refused.reason()).isEqualTo(StartRefused.Reason.PORT_TAKEN));
    }
  }

  @Test
  void a_port_that_needs_a_permission_is_not_called_taken() {
    assertThat(Ports.refused(Listener.MQTT_TLS, 883, "Permission denied"))
        .hasMessageContaining("port 883 (--mqtt-tls-port)")
        .hasMessageContaining("Permission denied")
        .hasMessageContaining("may need root");
    assertThat(Ports.refused(Listener.MQTT_TLS, 8_883, "Address already in use"))
        .hasMessageContaining("Address already in use")
        .hasMessageNotContaining("root");
  }

  @Test
  void a_port_that_is_taken_on_all_addresses_is_refused_too() throws IOException {
    try (var taken = new ServerSocket(0)) {
      Ports ports = Ports.free(Map.of(Listener.MQTT, taken.getLocalPort()));

      assertThatExceptionOfType(StartRefused.class)
          .isThrownBy(() -> ports.resolved(PublicAddress.THIS_MACHINE));
    }
  }

  @Test
  void one_port_for_two_listeners_is_refused() {
    Ports ports = Ports.free(Map.of(Listener.MQTT, 45_001, Listener.NODE, 45_001));

    assertThatExceptionOfType(StartRefused.class)
        .isThrownBy(() -> ports.resolved(PublicAddress.THIS_MACHINE))
        .withMessageContaining("--mqtt-port")
        .withMessageContaining("--node-port");
  }

  @Test
  void free_ports_are_all_different() {
    Ports ports = Ports.free(Map.of()).resolved(PublicAddress.THIS_MACHINE);

    assertThat(Arrays.stream(Listener.values()).map(ports::of))
        .doesNotHaveDuplicates()
        .doesNotContain(0);
  }

  @Test
  void a_given_port_is_not_given_again() {
    assertThat(Stream.generate(Port::free).limit(500)).doesNotHaveDuplicates();
  }
}
