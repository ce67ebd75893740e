package io.pushplanet.cm.transport.gate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.cm.transport.gate.AcceptGate.Verdict;
import java.net.InetAddress;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class AcceptGateTest {
  private static final long START = -7;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();
  private static final InetAddress BOT = InetAddress.ofLiteral("203.0.113.7");
  private static final InetAddress PHONE = InetAddress.ofLiteral("198.51.100.9");

  @Test
  void one_address_may_come_in_a_burst_and_then_at_its_rate() {
    var gate = gate(new GateSettings(0, 10, 5, 0, 0, ""));

    int atOnce = admitted(gate, BOT, 100, START);
    int inTheNextTenSeconds = 0;
    for (int tenth = 1; tenth <= 100; tenth++) {
      inTheNextTenSeconds += admitted(gate, BOT, 100, START + tenth * SECOND / 10);
    }

    assertThat(atOnce).isEqualTo(5);
    assertThat(inTheNextTenSeconds).isEqualTo(100);
  }

  @Test
  void harper_345_thirty_thousand_bots_a_second_affect_only_their_address() {
    var gate = gate(new GateSettings(0, 200, 1000, 0, 0, ""));

    int bots = admitted(gate, BOT, 30_000, START);

    assertThat(bots).isEqualTo(1000);
    assertThat(gate.judge(PHONE, START)).isEqualTo(Verdict.ADMITTED);
  }

  @Test
  void the_customer_of_an_ipv6_network_is_one_source_whatever_address_it_takes() {
    var gate = gate(new GateSettings(0, 1, 3, 0, 0, ""));
    int admitted = 0;

    for (int host = 1; host < 100; host++) {
      var address = InetAddress.ofLiteral("2001:db8:1:2::" + Integer.toHexString(host));
      admitted += gate.judge(address, START) == Verdict.ADMITTED ? 1 : 0;
    }

    assertThat(admitted).isEqualTo(3);
    assertThat(gate.judge(InetAddress.ofLiteral("2001:db8:1:3::1"), START))
        .isEqualTo(Verdict.ADMITTED);
  }

  @Test
  void ten_thousand_busy_addresses_hardly_ever_cost_an_innocent_one() throws Exception {
    var gate = gate(new GateSettings(0, 1, 1, 0, 0, ""));
    for (int bot = 0; bot < 10_000; bot++) {
      gate.judge(address(10, bot), START);
    }
    int mistaken = 0;

    for (int phone = 0; phone < 1_000; phone++) {
      mistaken += gate.judge(address(11, phone), START) == Verdict.ADMITTED ? 0 : 1;
    }

    // Both of an address's 32,768 clocks are taken with a probability of (10,000 / 32,768)^2 = 9 %
    // at most.
    assertThat(mistaken).isLessThan(120);
  }

  @Test
  void tbmq_277_an_address_with_wrong_credentials_is_refused_until_its_rate_recovers() {
    var gate = gate(new GateSettings(0, 0, 1, 2, 0, ""));
    for (int wrong = 0; wrong < 1_000; wrong++) {
      gate.failed(BOT, START);
    }

    assertThat(gate.judge(BOT, START)).isEqualTo(Verdict.ADDRESS_FAILED_TOO_OFTEN);
    assertThat(gate.failsTooOften(BOT, START)).isTrue();
    assertThat(gate.judge(PHONE, START)).isEqualTo(Verdict.ADMITTED);
    assertThat(gate.judge(BOT, START + SECOND)).isEqualTo(Verdict.ADMITTED);
  }

  @Test
  void haproxy_2050_a_load_balancers_address_is_not_counted() {
    var gate = gate(new GateSettings(0, 1, 1, 1, 0, "10.0.0.0/8, 2001:db8::/33, 192.0.2.1"));

    assertThat(admitted(gate, InetAddress.ofLiteral("10.255.1.2"), 64_000, START))
        .isEqualTo(64_000);
    assertThat(admitted(gate, InetAddress.ofLiteral("2001:db8:7fff::1"), 9, START)).isEqualTo(9);
    assertThat(admitted(gate, InetAddress.ofLiteral("192.0.2.1"), 9, START)).isEqualTo(9);
    assertThat(admitted(gate, InetAddress.ofLiteral("11.0.0.1"), 9, START)).isEqualTo(1);
    assertThat(admitted(gate, InetAddress.ofLiteral("2001:db8:8000::1"), 9, START)).isEqualTo(1);
    assertThat(admitted(gate, InetAddress.ofLiteral("192.0.2.2"), 9, START)).isEqualTo(1);
  }

  @Test
  void an_address_refused_at_the_devices_listeners_may_use_the_gateways_listener() {
    var gate = gate(new GateSettings(0, 1, 3, 1, 0, ""));
    for (int wrong = 0; wrong < 1_000; wrong++) {
      gate.judge(BOT, START);
      gate.failed(BOT, START);
    }

    assertThat(gate.judge(BOT, START)).isNotEqualTo(Verdict.ADMITTED);
    int admitted = 0;
    for (int time = 0; time < 100; time++) {
      admitted += gate.judgeAtTrusted(BOT, START) == Verdict.ADMITTED ? 1 : 0;
    }
    assertThat(admitted).as("counted there by itself").isEqualTo(3);
  }

  @Test
  void a_block_that_is_none_stops_the_start() {
    for (var wrong : new String[] {"10.0.0.0/33", "10.0.0.0/a", "example.org", "::1/x"}) {
      assertThatThrownBy(() -> gate(new GateSettings(0, 0, 1, 0, 0, wrong)))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void emqx_14145_the_line_is_never_longer_than_clients_are_patient() {
    var slow = gate(new GateSettings(10, 0, 1, 0, 0, ""));
    var fast = gate(new GateSettings(100_000, 0, 1, 0, 0, ""));

    assertThat(slow.backlog(1024, 2)).isEqualTo(16);
    assertThat(fast.backlog(1024, 2)).isEqualTo(1024);
    assertThat(gate(GateSettings.OPEN).backlog(1024, 2)).isEqualTo(1024);
  }

  @Test
  void a_listener_admits_its_rate_and_says_when_the_next_one_may_come() {
    var rate = gate(new GateSettings(100, 0, 1, 0, 0, "")).listenerRate();
    int admitted = 0;
    long now = START;

    while (now < START + 10 * SECOND) {
      long wait = rate.waitNanos(now);
      if (wait == 0) {
        rate.spend(now);
        admitted++;
      }
      now += wait;
    }

    assertThat(admitted).isEqualTo(10 + 1000 - 1);
  }

  @Test
  void a_refused_socket_is_held_for_a_random_time() {
    var gate = gate(GateSettings.OPEN);

    var holds =
        new SplittableRandom(1).ints(100).mapToObj(_ -> gate.holdNanos()).distinct().toList();

    assertThat(holds)
        .hasSizeGreaterThan(95)
        .allSatisfy(nanos ->
            assertThat(Duration.ofNanos(nanos))
                .isBetween(Duration.ofMillis(100), Duration.ofSeconds(3)));
  }

  private static AcceptGate gate(GateSettings settings) {
    return new AcceptGate(settings, START, new SplittableRandom(42));
  }

  private static int admitted(AcceptGate gate, InetAddress source, int times, long now) {
    int admitted = 0;
    for (int time = 0; time < times; time++) {
      admitted += gate.judge(source, now) == Verdict.ADMITTED ? 1 : 0;
    }
    return admitted;
  }

  private static InetAddress address(int first, int number) throws Exception {
    return InetAddress.getByAddress(
        new byte[] {(byte) first, (byte) (number >> 16), (byte) (number >> 8), (byte) number});
  }
}
