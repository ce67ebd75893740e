package io.pushplanet.load.crowd;

import io.pushplanet.load.node.JvmFlags;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// One of our programs in a process of its own, with a line per question and answer. It ends with
/// this JVM, because its standard input does. Not thread-safe; every question waits for the answer.
final class LineProgram implements AutoCloseable {
  private final String name;
  private final Process process;
  private final BufferedReader answers;
  private final Writer commands;

  private LineProgram(String name, Process process) {
    this.name = name;
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
    this.commands = process.outputWriter(StandardCharsets.UTF_8);
  }

  /// @param name for messages
  /// @param by a command that starts it, such as `nice`; may be empty
  /// @param log the file of its standard error
  static LineProgram start(
      String name,
      List<String> by,
      Class<?> main,
      List<String> arguments,
      Map<String, String> environment,
      Path log) {
    List<String> command = new ArrayList<>(by);
    command.add(JvmFlags.java());
    command.addAll(
        List.of(
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:+UseCompactObjectHeaders",
            "-cp",
            System.getProperty("java.class.path"),
            main.getName()));
    command.addAll(arguments);
    ProcessBuilder builder =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.appendTo(log.toFile()));
    builder.environment().putAll(environment);
    try {
      return new LineProgram(name, builder.start());
    } catch (IOException e) {
      throw new UncheckedIOException("the process of " + name + " cannot be started", e);
    }
  }

  long pid() {
    return process.pid();
  }

  /// @throws IllegalStateException when it reports a failure, or has ended
  String ask(String command) {
    try {
      commands.write(command + "\n");
      commands.flush();
      String answer = answers.readLine();
      if (answer == null || answer.startsWith("failed")) {
        throw new IllegalStateException(
            String.format(Locale.ROOT, "%s: '%s' is answered with: %s", name, command, answer));
      }
      return answer;
    } catch (IOException e) {
      throw new UncheckedIOException("the process of " + name + " has ended", e);
    }
  }

  @Override
  public void close() {
    process.destroy();
  }
}
