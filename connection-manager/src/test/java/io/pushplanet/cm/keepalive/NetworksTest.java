package io.pushplanet.cm.keepalive;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.testing.MutableClock;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Optional;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class NetworksTest {
  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Networks networks = new Networks(64, clock, new Random(1), meters);

  static LongStream seeds() {
    long first = Long.getLong("seed", 1);
    return LongStream.range(first, first + 200);
  }

  /// Devices with random wishes are behind an address translator that forgets connections after a
  /// random time, in a network where one connection in a hundred ends silently anyway.
  @ParameterizedTest(name = "seed {0}")
  @MethodSource("seeds")
  void ntfy_android_113_an_advised_interval_survives_in_the_network_and_is_long(long seed) {
    var random = new Random(seed);
    int forgottenAfter = 70 + random.nextInt(2_000);
    var network =
        networks.of(
            address("203.0.113.9"), Optional.of(String.valueOf(10_000 + random.nextInt(80_000))));
    for (int device = 0; device < 6_000; device++) {
      int wished = random.nextInt(4) == 0 ? 60 + random.nextInt(1_741) : 60;
      int interval = network.advise(wished, random);

      assertThat(interval).isBetween(60, 1_800);

      boolean survives = interval < forgottenAfter && random.nextInt(100) != 0;
      if (survives) {
        network.survived(interval - random.nextInt(interval / 2), interval);
      } else {
        network.died(interval);
      }
      clock.advance(Duration.ofSeconds(2));
    }

    // One device in sixteen probes; all others get the same interval.
    var told = new int[1_801];
    for (int device = 0; device < 200; device++) {
      told[network.advise(60, random)]++;
    }
    int usual = 60;
    for (int interval = 60; interval <= 1_800; interval++) {
      usual = told[interval] > told[usual] ? interval : usual;
    }
    assertThat(usual)
        .as("translator forgets after %s s", forgottenAfter)
        .isLessThanOrEqualTo(forgottenAfter);
    assertThat(usual * 2 + 30)
        .as("not much shorter than needed")
        .isGreaterThan(Math.min(forgottenAfter, 1_800));
    assertThat(network.advise(1_800, random))
        .as("a deadly wish is not granted")
        .isLessThan(forgottenAfter < 1_750 ? 1_800 : 1_801);
  }

  @Test
  void without_evidence_the_wish_stands() {
    var network = networks.of(address("203.0.113.9"), Optional.empty());
    for (int silence = 0; silence < 49; silence++) {
      network.survived(300, 300);
    }

    assertThat(networks.advise(network, 60)).isEqualTo(60);
    assertThat(networks.advise(network, 300)).isEqualTo(300);
  }

  @Test
  void a_network_that_has_changed_is_judged_anew() {
    var network = networks.of(address("203.0.113.9"), Optional.empty());
    for (int silence = 0; silence < 100; silence++) {
      network.died(120);
    }
    assertThat(networks.advise(network, 900)).isEqualTo(90);

    clock.advance(Duration.ofHours(36));

    assertThat(networks.advise(network, 900)).isEqualTo(900);
  }

  @Test
  void a_silence_that_no_ping_ended_proves_only_its_own_length() {
    var network = networks.of(address("203.0.113.9"), Optional.empty());
    for (int silence = 0; silence < 100; silence++) {
      network.survived(200, 0);
    }

    assertThat(
            network.advise(
                60,
                new Random(0) {
                  @Override
                  public int nextInt(int bound) {
                    return 1;
                  }
                }))
        .isEqualTo(180);
  }

  /// Empty batteries and elevators end one connection in ten at an interval that few devices have.
  @Test
  void an_interval_is_not_deadly_where_longer_ones_survive() {
    var network = networks.of(address("203.0.113.9"), Optional.empty());
    for (int silence = 0; silence < 20; silence++) {
      network.died(90);
      network.survived(90, 90);
    }
    assertThat(networks.advise(network, 600)).as("as far as is known").isEqualTo(60);

    for (int silence = 0; silence < 200; silence++) {
      network.survived(600, 600);
    }

    assertThat(networks.advise(network, 600)).isGreaterThanOrEqualTo(600);
    assertThat(networks.advise(network, 90)).isGreaterThanOrEqualTo(90);
  }

  @Test
  void devices_share_what_they_learn_by_block_and_by_operator() {
    var one = networks.of(address("203.0.113.9"), Optional.empty());

    assertThat(networks.of(address("203.0.113.200"), Optional.empty())).isSameAs(one);
    assertThat(networks.of(address("203.0.114.9"), Optional.empty())).isNotSameAs(one);
    assertThat(networks.of(address("2001:db8:1:2::3"), Optional.empty()))
        .isSameAs(networks.of(address("2001:db8:1:ffff::9"), Optional.empty()))
        .isNotSameAs(networks.of(address("2001:db8:2:2::3"), Optional.empty()));
    assertThat(networks.of(address("203.0.113.9"), Optional.of("45005")))
        .isSameAs(networks.of(address("198.51.100.1"), Optional.of("45005")))
        .isNotSameAs(one);
    assertThat(networks.of(address("203.0.113.9"), Optional.of("my own network"))).isSameAs(one);
  }

  @Test
  void the_longest_unused_networks_are_forgotten() {
    var first = networks.of(address("10.0.0.1"), Optional.empty());
    for (int block = 1; block < 200; block++) {
      clock.advance(Duration.ofSeconds(1));
      first.survived(60, 60);
      networks.of(address("10.0." + block + ".1"), Optional.empty());

      assertThat(networks.size()).isLessThanOrEqualTo(64);
    }
    assertThat(networks.of(address("10.0.0.1"), Optional.empty())).isSameAs(first);
  }

  private static InetAddress address(String literal) {
    try {
      return InetAddress.getByName(literal);
    } catch (UnknownHostException impossible) {
      throw new AssertionError(impossible);
    }
  }
}
