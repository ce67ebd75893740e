package io.pushplanet.common.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.Fencing.Tenure;
import org.junit.jupiter.api.Test;

class FencingTest {
  private static final NodeId ME = new NodeId("me");
  private static final NodeId OTHER = new NodeId("other");

  @Test
  void a_session_unknown_to_the_directory_must_be_announced() {
    assertThat(Fencing.judge(ME, 5, null)).isEqualTo(new Tenure.Unknown());
    assertThat(Fencing.judge(ME, 5, new SessionOwner(OTHER, 4))).isEqualTo(new Tenure.Unknown());
    assertThat(Fencing.judge(ME, 5, new SessionOwner(ME, 4))).isEqualTo(new Tenure.Unknown());
  }

  @Test
  void a_session_is_lost_to_a_newer_epoch_of_another_node_only() {
    var newer = new SessionOwner(OTHER, 6);

    assertThat(Fencing.judge(ME, 5, newer)).isEqualTo(new Tenure.Lost(newer));
    assertThat(Fencing.judge(ME, 5, new SessionOwner(ME, 6))).isEqualTo(new Tenure.Renewed(6));
    assertThat(Fencing.judge(ME, 5, new SessionOwner(ME, 5))).isEqualTo(new Tenure.Kept());
  }

  @Test
  void the_announced_one_of_two_nodes_with_one_epoch_keeps_the_device() {
    var announced = new SessionOwner(OTHER, 5);

    assertThat(Fencing.judge(ME, 5, announced)).isEqualTo(new Tenure.Lost(announced));
    assertThat(Fencing.judge(OTHER, 5, announced)).isEqualTo(new Tenure.Kept());
  }

  @Test
  void a_session_older_than_the_gateways_epoch_delivers_and_settles_nothing() {
    assertThat(Fencing.mayDeliver(6L, 5)).isFalse();
    assertThat(Fencing.mayDeliver(5L, 6)).isTrue();
    assertThat(Fencing.settles(6L, 5L)).isFalse();
    assertThat(Fencing.settles(5L, 6L)).isTrue();
  }

  @Test
  void peers_of_a_version_without_epochs_are_taken_at_their_word() {
    assertThat(Fencing.mayDeliver(null, 5)).isTrue();
    assertThat(Fencing.settles(5L, null)).isTrue();
    assertThat(Fencing.settles(null, 5L)).isTrue();
  }
}
