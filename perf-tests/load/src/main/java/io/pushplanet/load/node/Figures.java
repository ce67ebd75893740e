package io.pushplanet.load.node;

import io.pushplanet.quickstart.process.ChildProcess;
import io.pushplanet.quickstart.process.Command;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/// The figures of a program, which prints them in its last line: `name=number` pairs, separated by
/// blanks.
final class Figures {
  private Figures() {}

  /// Runs a program to its end and reads its figures.
  ///
  /// @throws IllegalStateException when the program fails, or takes longer; the message holds its
  ///     last lines
  static Map<String, Long> of(Command command, Duration atMost) {
    ChildProcess process = ChildProcess.start(command);
    boolean ended = process.waitFor(atMost);
    process.stop(Duration.ZERO);
    if (!ended || process.exitCode() != 0) {
      throw new IllegalStateException(command.name() + " failed:\n" + process.lastLogLines(10));
    }
    return parse(process.lastLogLines(1));
  }

  static Map<String, Long> parse(String line) {
    Map<String, Long> figures = new TreeMap<>();
    for (String pair : line.trim().split(" ")) {
      int equals = pair.indexOf('=');
      if (equals < 0) {
        throw new IllegalStateException("no name=number pairs: " + line);
      }
      figures.put(pair.substring(0, equals), Long.parseLong(pair.substring(equals + 1)));
    }
    return figures;
  }
}
