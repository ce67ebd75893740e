package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class SourcesTest {
  @Test
  void two_thousand_devices_share_an_address_of_the_loopback_network() {
    Sources sources = Sources.ofLoopback(251, 0);

    assertThat(sources.of(0)).isEqualTo(new InetSocketAddress("127.1.2.1", 0));
    assertThat(sources.of(1_999)).isEqualTo(sources.of(0));
    assertThat(sources.of(2_000)).isEqualTo(new InetSocketAddress("127.1.2.2", 0));
  }

  /// The first fleet's ports are still in use when the next one connects.
  @Test
  void the_next_fleet_of_a_process_comes_from_elsewhere() {
    assertThat(Sources.ofLoopback(251, 1).of(0)).isEqualTo(new InetSocketAddress("127.2.2.1", 0));
  }
}
