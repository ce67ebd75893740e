package io.pushplanet.quickstart.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.util.List;

/// Holds processes so that they end when this JVM ends, even by `kill -9`: a small shell reads the held process ids from
/// a pipe, and the pipe's end (which nothing but our end can bring about) makes it terminate them, then kill what is left.
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

  /// From now on the process ends with this JVM.
  public void hold(long pid) {
    write("+ " + pid + "\n");
  }

  /// The process has ended, or may outlive this JVM.
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
