package io.pushplanet.load.fleet;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

/// The commands of a program that serves another JVM: one per line on its input, and one answer per
/// line on its output.
public final class Commands {
  private Commands() {}

  /// Answers each command, one after the other, on a daemon thread. Returns with the end of the
  /// input, also during a command: that ends a program that has only daemons besides.
  ///
  /// @param program answers a command; one that it throws at is answered with `failed`
  public static void answer(InputStream input, PrintStream output, UnaryOperator<String> program)
      throws IOException {
    ExecutorService answering =
        Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().factory());
    var commands = new BufferedReader(new InputStreamReader(input, StandardCharsets.UTF_8));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      String command = line;
      answering.execute(() -> {
        output.println(answer(command, program));
        output.flush();
      });
    }
  }

  private static String answer(String command, UnaryOperator<String> program) {
    try {
      return program.apply(command);
    } catch (RuntimeException | Error e) {
      // Errors as well: without an answer the bench would wait for ever.
      return "failed: " + e.toString().replaceAll("\\s+", " ");
    }
  }
}
