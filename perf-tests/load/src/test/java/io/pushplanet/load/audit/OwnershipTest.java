package io.pushplanet.load.audit;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.fleet.Stay;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class OwnershipTest {
  private static final DeviceId DEVICE = new DeviceId("d1");

  @Test
  void a_late_delivery_of_a_former_node_is_reported_with_its_delay() {
    var former = stay(0, 0, 10, 20, 900);
    var newer = stay(1, 500, 520, 600, 2_000);

    var ownership = Ownership.of(List.of(newer, former), List.of(claim(1, 510)), 0);

    assertThat(ownership.afterClaim()).containsExactly(390L);
    assertThat(ownership.afterDelivery()).containsExactly(300L);
    assertThat(ownership.pairs()).isOne();
  }

  @Test
  void a_delivery_before_the_newer_claim_is_no_fault() {
    var former = stay(0, 0, 10, 20, 505);
    var newer = stay(1, 500, 520, 600, 2_000);

    var ownership = Ownership.of(List.of(former, newer), List.of(claim(1, 510)), 0);

    assertThat(ownership.afterClaim()).isEmpty();
    assertThat(ownership.afterDelivery()).isEmpty();
  }

  @Test
  void the_higher_epoch_of_a_race_is_the_owner() {
    var winner = stay(1, 500, 530, 540, 2_000);
    var loser = stay(2, 500, 505, 506, 700);

    var ownership = Ownership.of(List.of(winner, loser), List.of(claim(1, 504), claim(2, 502)), 0);

    assertThat(ownership.afterClaim()).containsExactly(196L);
  }

  @Test
  void a_pair_without_known_order_is_judged_by_its_messages() {
    var one = stay(0, 500, 530, 540, 700);

    var inTurns = Ownership.of(List.of(one, stay(1, 510, 520, 530, 535)), List.of(), 0);
    var atOnce = Ownership.of(List.of(one, stay(1, 510, 520, 530, 600)), List.of(), 0);

    assertThat(inTurns.unordered()).isOne();
    assertThat(inTurns.afterClaim()).isEmpty();
    assertThat(inTurns.afterDelivery()).isEmpty();
    assertThat(atOnce.unordered()).isOne();
    assertThat(atOnce.afterDelivery()).containsExactly(60L);
  }

  @Test
  void first_messages_of_one_turn_have_no_order() {
    var one = stay(0, 500, 530, 540, 700);

    var ownership = Ownership.of(List.of(one, stay(1, 510, 520, 540, 540)), List.of(), 0);

    assertThat(ownership.afterDelivery()).isEmpty();
  }

  @Test
  void only_pairs_with_enough_messages_are_telling() {
    var one = stay(0, 500, 530, 540, 700);
    var nothing = stay(1, 510, 520, 0, 0, 0);
    var once = stay(0, 500, 530, 540, 540, 1);
    var onceToo = stay(1, 510, 520, 550, 550, 1);
    var former = stay(0, 0, 10, 20, 540, 1);

    assertThat(Ownership.of(List.of(one, onceToo), List.of(), 0).telling()).isOne();
    assertThat(Ownership.of(List.of(one, nothing), List.of(), 0).telling()).isZero();
    assertThat(Ownership.of(List.of(once, onceToo), List.of(), 0).telling()).isZero();
    assertThat(Ownership.of(List.of(former, onceToo), List.of(), 0).telling()).isOne();
    assertThat(Ownership.of(List.of(former, nothing), List.of(), 0).telling()).isZero();
  }

  private static Claim claim(int node, long millis) {
    return new Claim(DEVICE, node, millis);
  }

  private static Stay stay(int node, long began, long welcomed, long first, long last) {
    return stay(node, began, welcomed, first, last, 2);
  }

  private static Stay stay(
      int node, long began, long welcomed, long first, long last, long messages) {
    return new Stay(
        DEVICE, node, nanos(began), nanos(welcomed), nanos(first), nanos(last), messages);
  }

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
