package io.pushplanet.quickstart.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Ends processes when this JVM ends, even by `kill -9`: a small shell reads the process ids from a
/// pipe. The pipe closes only when this JVM ends; then the shell terminates the processes, and
/// kills those that are left.
///
/// Thread-safe. One per JVM is enough: {@link #shared()}.
public final class Leash {
  private static final String SCRIPT =
      """
      trap '' INT HUP TERM
      held=''
      while read -r sign pid; do
        kept=''
        for p in $held; do [ "$p" = "$pid" ] || kept="$kept $p"; done
        held=$kept
        [ "$sign" = '+' ] && held="$held $pid"
      done
      for p in $held; do kill "$p" 2>/dev/null; done
      n=0
      while [ $n -lt 10 ]; do
        alive=''
        for p in $held; do kill -0 "$p" 2>/dev/null && alive="$alive $p"; done
        [ -z "$alive" ] && exit 0
        sleep 1
        n=$((n + 1))
      done
      for p in $held; do kill -9 "$p" 2>/dev/null; done
      """;

  private final Writer pipe;

  private Leash(Writer pipe) {
    this.pipe = pipe;
  }

  /// The leash of this JVM, made at first use.
  public static Leash shared() {
    return Shared.LEASH;
  }

  /// Adds a process: from now on it ends with this JVM.
  public void hold(long pid) {
    write("+ " + pid + "\n");
  }

  /// Removes a process, because it has ended or may outlive this JVM.
  public void release(long pid) {
    write("- " + pid + "\n");
  }

  private synchronized void write(String line) {
    try {
      pipe.write(line);
      pipe.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("the process that guards our child processes is gone", e);
    }
  }

  private static Leash open() {
    try {
      Process shell =
          new ProcessBuilder(OwnSession.of(List.of("/bin/sh", "-c", SCRIPT)))
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      return new Leash(shell.outputWriter(StandardCharsets.US_ASCII));
    } catch (IOException e) {
      throw new UncheckedIOException("cannot start /bin/sh, which guards our child processes", e);
    }
  }

  private static final class Shared {
    static final Leash LEASH = open();
  }
}
