package io.pushplanet.common.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.testing.MutableClock;
import java.security.SecureRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void a_pass_of_another_installation_is_worth_nothing() {
    var other = new NodePass(MasterKey.parse(MasterKey.generate(new SecureRandom())), clock);

    assertThat(pass.isValid(NODE, other.mint(NODE))).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "v1..", "v1.99999999999999999999.x", "v2.1.x", "v1.-1.x"})
  void rubbish_is_no_pass(String rubbish) {
    assertThat(pass.isValid(NODE, rubbish)).isFalse();
  }
}
