package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class LiveAddressesTest {
  private static final InetAddress A = InetAddress.ofLiteral("192.0.2.1");
  private static final InetAddress B = InetAddress.ofLiteral("192.0.2.2");
  private static final InetAddress C = InetAddress.ofLiteral("2001:db8::3");
  private static final List<InetAddress> ALL = List.of(A, B, C);

  private final AtomicLong ticks = new AtomicLong();
  private final LiveAddresses live = new LiveAddresses(ticks::get);

  @Test
  void each_further_try_takes_the_next_address() {
    assertThat(List.of(live.choose(ALL, 0), live.choose(ALL, 0))).containsOnly(A);
    assertThat(live.choose(ALL, 1)).isEqualTo(B);
    assertThat(live.choose(ALL, 2)).isEqualTo(C);
    assertThat(live.choose(ALL, 3)).isEqualTo(A);
    assertThat(live.choose(List.of(B), 7)).isEqualTo(B);
  }

  @Test
  void an_unreachable_address_is_passed_over_for_a_while() {
    live.failed(A);
    live.failed(C);

    assertThat(live.choose(ALL, 0)).isEqualTo(B);
    assertThat(live.choose(ALL, 2)).isEqualTo(B);

    ticks.addAndGet(LiveAddresses.AVOIDED_FOR.toNanos());
    assertThat(live.choose(ALL, 0)).isEqualTo(A);
  }

  @Test
  void where_all_addresses_were_unreachable_one_is_still_tried() {
    ALL.forEach(live::failed);

    assertThat(live.choose(ALL, 0)).isEqualTo(A);
    assertThat(live.choose(ALL, 1)).isEqualTo(B);
  }
}
