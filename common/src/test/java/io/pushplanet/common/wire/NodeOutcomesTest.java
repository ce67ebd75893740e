package io.pushplanet.common.wire;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.util.BitSet;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeOutcomesTest {
  @Test
  void many_delivered_targets_are_reported_in_runs() {
    var targets = new BitSet();
    targets.set(0);
    targets.set(3, 4_000);
    targets.set(7_999);
    var told =
        new NodeOutcomes(
            "7", List.of(new Outcome(1, Result.NOT_HERE, null)), NodeOutcomes.runs(targets));

    byte[] wire = WireForm.write(told);
    var heard = WireForm.read(wire, NodeOutcomes.class);

    assertThat(wire).hasSizeLessThan(200);
    assertThat(heard.delivered()).containsExactly(0, 0, 3, 3_999, 7_999, 7_999);
    var delivered = new BitSet();
    heard.each().stream()
        .filter(outcome -> outcome.result() == Result.DELIVERED)
        .forEach(outcome -> delivered.set(outcome.target()));
    assertThat(delivered).isEqualTo(targets);
    assertThat(heard.each()).hasSize(targets.cardinality() + 1);
  }

  @Test
  void a_node_without_runs_is_understood() {
    var heard =
        WireForm.read(
            "{\"frame\":\"7\",\"outcomes\":[{\"target\":2,\"result\":\"delivered\"}]}"
                .getBytes(java.nio.charset.StandardCharsets.UTF_8),
            NodeOutcomes.class);

    assertThat(heard.each()).containsExactly(new Outcome(2, Result.DELIVERED, null));
  }
}
