package io.pushplanet.quickstart.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// One running child with the processes that it has started. Its output goes to a file; it never
/// outlives this JVM ({@link Leash}). Thread-safe.
public final class ChildProcess {
  private static final Duration KILL_DEADLINE = Duration.ofSeconds(20);
  private static final int LOG_END = 64 * 1024;
  private static final Duration SIGNAL_DEADLINE = Duration.ofSeconds(10);

  private final Command command;
  private final Process process;
  private final ChildRecord record;
  private final Set<ProcessHandle> helpers = ConcurrentHashMap.newKeySet();

  private ChildProcess(Command command, Process process) throws IOException {
    this.command = command;
    this.process = process;
    this.record = ChildRecord.write(command, process);
  }

  /// In a session of its own, so that ctrl-C in a terminal does not reach it.
  ///
  /// @throws ProcessFailed when the program cannot be started at all
  public static ChildProcess start(Command command) {
    return start(command, OwnSession.of(command.arguments()));
  }

  /// In this JVM's session, for measurements: Linux schedules each session as one task among
  /// others, and a priority counts only within its session
  /// (https://man7.org/linux/man-pages/man7/sched.7.html, "The autogroup feature").
  ///
  /// @throws ProcessFailed when the program cannot be started at all
  public static ChildProcess startInOurSession(Command command) {
    return start(command, command.arguments());
  }

  private static ChildProcess start(Command command, List<String> arguments) {
    try {
      Files.createDirectories(command.directory());
      Files.createDirectories(command.log().toAbsolutePath().getParent());
      var builder =
          new ProcessBuilder(arguments)
              .directory(command.directory().toFile())
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
              .redirectOutput(ProcessBuilder.Redirect.appendTo(command.log().toFile()));
      builder.environment().putAll(command.environment());
      // Started before the child, so that the child is never without it.
      Leash leash = Leash.shared();
      Process process = builder.start();
      leash.hold(process.pid());
      return new ChildProcess(command, process);
    } catch (IOException e) {
      throw new ProcessFailed(command.name() + " cannot be started: " + e.getMessage(), e);
    }
  }

  public String name() {
    return command.name();
  }

  public long pid() {
    return process.pid();
  }

  public Command command() {
    return command;
  }

  public boolean isRunning() {
    return process.isAlive();
  }

  /// @throws IllegalStateException while it runs
  public int exitCode() {
    if (process.isAlive()) {
      throw new IllegalStateException(name() + " is still running");
    }
    return process.exitValue();
  }

  /// Ends the children of this child with it, and when this JVM dies. Call it once the child is
  /// ready.
  public void holdDescendants() {
    process
        .descendants()
        .forEach(helper -> {
          helpers.add(helper);
          Leash.shared().hold(helper.pid());
        });
  }

  /// Asks the child to end (SIGTERM), and kills it when it still runs after `grace`.
  public void stop(Duration grace) {
    stop(grace, grace, () -> {});
  }

  /// Like [#stop(Duration)].
  ///
  /// @param whenSlow runs when the child still runs after `patience`
  /// @return whether the child ended by itself
  public boolean stop(Duration grace, Duration patience, Runnable whenSlow) {
    process.destroy();
    boolean ended = waitFor(patience);
    if (!ended) {
      whenSlow.run();
      ended = waitFor(grace.minus(patience));
    }
    if (!ended) {
      kill9();
    }
    release();
    return ended;
  }

  /// SIGKILL to the child and to all its descendants; returns when they are gone.
  public void kill9() {
    List<ProcessHandle> all =
        Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
    all.forEach(ProcessHandle::destroyForcibly);
    waitFor(KILL_DEADLINE);
    release();
  }

  /// SIGSTOP to the child alone: its sockets stay open, but nothing reads from them.
  public void freeze() {
    signal("STOP");
  }

  /// SIGCONT.
  public void thaw() {
    signal("CONT");
  }

  private void signal(String signal) {
    try {
      Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(pid())).start();
      if (!kill.waitFor(SIGNAL_DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
          || kill.exitValue() != 0) {
        throw new IllegalStateException("cannot send SIG" + signal + " to " + name());
      }
    } catch (IOException e) {
      throw new UncheckedIOException("cannot send SIG" + signal + " to " + name(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /// @return whether the child ended in time
  public boolean waitFor(Duration atMost) {
    try {
      return process.waitFor(atMost.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /// The last lines of its log, for messages; a log may be larger than our memory.
  public String lastLogLines(int count) {
    try {
      List<String> lines = endOfLog().lines().toList();
      return String.join("\n", lines.subList(Math.max(0, lines.size() - count), lines.size()));
    } catch (IOException e) {
      return "(its log " + command.log() + " cannot be read: " + e.getMessage() + ")";
    }
  }

  private String endOfLog() throws IOException {
    try (FileChannel log = FileChannel.open(command.log())) {
      log.position(Math.max(0, log.size() - LOG_END));
      return new String(Channels.newInputStream(log).readNBytes(LOG_END), StandardCharsets.UTF_8);
    }
  }

  /// On the leash an id would stay for ever, and in time become that of another process.
  private void release() {
    helpers.forEach(helper -> {
      helper.destroyForcibly();
      Leash.shared().release(helper.pid());
    });
    Leash.shared().release(process.pid());
    record.forget();
  }
}
