package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

class ProgramProcessesTest {
  /// While it is trained, the platform's own process has these ports.
  @Test
  void a_program_is_trained_on_ports_of_its_own() {
    Map<String, String> own = Map.of("CM_MQTTPORT", "1883", "CM_WSPORT", "8083", "CM_BIND", "::");

    assertThat(ProgramProcesses.onFreePorts(own))
        .containsEntry("SERVER_PORT", "0")
        .containsEntry("MANAGEMENT_SERVER_PORT", "0")
        .containsEntry("CM_MQTTPORT", "0")
        .containsEntry("CM_TLSPORT", "0")
        .containsEntry("CM_GATEWAYPORT", "0")
        .containsEntry("CM_WSPORT", "0")
        .containsEntry("CM_BIND", "::");
  }

  @Test
  void a_program_is_trained_without_listeners_that_it_does_not_have() {
    assertThat(ProgramProcesses.onFreePorts(Map.of("CM_WSSPORT", "8084")))
        .containsEntry("CM_WSSPORT", "0")
        .doesNotContainKey("CM_WSPORT");
  }
}
