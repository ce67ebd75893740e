package io.pushplanet.common.node;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.testing.MutableClock;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;

class NodePassTest {
  private static final NodeId NODE = new NodeId("cm-1");

  private final MutableClock clock = MutableClock.started();
  private final NodePass pass =
      new NodePass(MasterKey.parse(MasterKey.generate(new SecureRandom())), clock);

  @Test
  void a_pass_holds_for_its_node_until_it_expires() {
    String minted = pass.mint(NODE);

    assertThat(pass.isValid(NODE, minted)).isTrue();
    assertThat(pass.isValid(new NodeId("cm-2"), minted)).isFalse();
    clock.advance(NodePass.VALIDITY);
    assertThat(pass.isValid(NODE, minted)).isFalse();
  }

  @Test
  void what_is_no_pass_is_not_valid() {
    assertThat(pass.isValid(NODE, "")).isFalse();
  }

  /// Processes of two versions run side by side.
  @Test
  void a_pass_keeps_its_form() {
    var known =
        new NodePass(MasterKey.parse("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="), clock);

    assertThat(known.mint(NODE))
        .isEqualTo("v1.1795255260.7CqjuFxigvPRqdHjFl5fsi6l4eaOV-5lUnNcgmLGKiE");
  }
}
