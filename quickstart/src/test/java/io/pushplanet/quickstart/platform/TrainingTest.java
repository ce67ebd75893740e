package io.pushplanet.quickstart.platform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.pushplanet.quickstart.process.ProcessFailed;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TrainingTest {
  private static final List<Program> ALL =
      List.of(Program.CONNECTION_MANAGER, Program.DISPATCHER, Program.WORKER);

  private final List<String> told = new ArrayList<>();
  private final List<Program> trained = new ArrayList<>();

  @Test
  void a_program_that_cannot_be_trained_does_not_keep_the_others_from_it() {
    Training.of(ALL, this::trainAllButTheNode, told::add);

    assertThat(trained).containsExactly(Program.DISPATCHER, Program.WORKER);
    assertThat(told)
        .hasSize(3)
        .anySatisfy(line -> assertThat(line).contains("connection-manager", "its port is taken"))
        .last()
        .isEqualTo("the other classes are learnt");
  }

  private void trainAllButTheNode(Program program) {
    if (program == Program.CONNECTION_MANAGER) {
      throw new ProcessFailed("its port is taken");
    }
    trained.add(program);
  }

  @Test
  void once_all_are_trained_the_next_start_is_promised_to_be_faster() {
    Training.of(ALL, trained::add, told::add);

    assertThat(trained).isEqualTo(ALL);
    assertThat(told).hasSize(2).last().asString().contains("half the time");
  }

  @Test
  void an_interrupt_ends_all_of_it() {
    assertThatExceptionOfType(ProcessFailed.class)
        .isThrownBy(() -> Training.of(ALL, this::interruptedAtTheNode, told::add));

    assertThat(Thread.interrupted()).isTrue();
    assertThat(trained).isEmpty();
    assertThat(told).hasSize(1);
  }

  private void interruptedAtTheNode(Program program) {
    if (program == Program.CONNECTION_MANAGER) {
      Thread.currentThread().interrupt();
      throw new ProcessFailed("given up");
    }
    trained.add(program);
  }
}
