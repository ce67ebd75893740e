package io.pushplanet.load.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CommandsTest {
  private final PipedInputStream output = new PipedInputStream();
  private final BufferedReader answers =
      new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));

  @Test
  void each_command_has_one_answer() throws IOException {
    answer("one\ntwo\n", command -> command.toUpperCase(Locale.ROOT));

    assertThat(answers.readLine()).isEqualTo("ONE");
    assertThat(answers.readLine()).isEqualTo("TWO");
  }

  @Test
  void a_command_that_fails_has_an_answer() throws IOException {
    answer(
        "one\n",
        _ -> {
          throw new IllegalStateException("two\nlines");
        });

    assertThat(answers.readLine()).isEqualTo("failed: java.lang.IllegalStateException: two lines");
  }

  @Test
  void the_input_may_end_during_a_command() throws IOException {
    CountDownLatch never = new CountDownLatch(1);

    answer(
        "wait\n",
        command -> {
          try {
            never.await();
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
          return command;
        });

    assertThat(output.available()).isZero();
    never.countDown();
  }

  /// Returns with the end of the input.
  private void answer(String input, UnaryOperator<String> program) throws IOException {
    Commands.answer(
        new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
        new PrintStream(new PipedOutputStream(output), true, StandardCharsets.UTF_8),
        program);
  }
}
