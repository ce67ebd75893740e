package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.net.Inet4Address;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PublicAddressTest {
  @Test
  void this_machine_alone_is_not_open() {
    PublicAddress address = PublicAddress.THIS_MACHINE;

    assertThat(address.isOpen()).isFalse();
    assertThat(address.text()).isEqualTo("127.0.0.1");
    assertThat(address.localHost()).isEqualTo("127.0.0.1");
    assertThat(address.networkHost()).isEqualTo("127.0.0.1");
  }

  @Test
  void all_addresses_are_reached_from_here_by_the_loopback_address() {
    PublicAddress address = PublicAddress.parse("0.0.0.0");

    assertThat(address.isOpen()).isTrue();
    assertThat(address.text()).isEqualTo("0.0.0.0");
    assertThat(address.localHost()).isEqualTo("127.0.0.1");
    String others = address.networkHost();
    assertThat(PublicAddress.parse(others).listen()).isEqualTo(Inet4Address.ofLiteral(others));
    assertThat(others).isNotEqualTo("0.0.0.0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "localhost", "::1", "203.0.113.1", "0.0.0.0.0"})
  void anything_but_an_ipv4_address_of_this_machine_is_refused(String text) {
    assertThatIllegalArgumentException().isThrownBy(() -> PublicAddress.parse(text));
  }

  @Test
  void the_public_listeners_are_those_of_apps_operators_and_devices() {
    assertThat(Arrays.stream(Listener.values()).filter(Listener::isPublic))
        .containsExactly(Listener.DISPATCHER, Listener.DASHBOARD, Listener.MQTT, Listener.MQTT_TLS);
  }
}
