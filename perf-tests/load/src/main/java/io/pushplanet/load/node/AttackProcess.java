package io.pushplanet.load.node;

import io.pushplanet.load.fleet.FleetProgram;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.AttackProgram;
import io.pushplanet.load.hostile.Door;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Attackers in a process of their own, so that nobody who measures shares a heap with them, and of a low priority: they stand
/// for other machines. Ends with this JVM: its standard input does. Not thread-safe; every call waits for the answer.
public final class AttackProcess implements AutoCloseable {
  private static final Path SETSID = Path.of("/usr/bin/setsid");
  private static final Path NICE = Path.of("/usr/bin/nice");

  /// Where the kernel shares processors out among sessions first, a nice value counts only within one: the session has another
  /// (https://man7.org/linux/man-pages/man7/sched.7.html, "The autogroup feature").
  private static final String SCRIPT =
      "{ echo %1$d > /proc/self/autogroup; } 2> /dev/null; exec " + NICE + " -n %1$d \"$@\"";

  /// The number of the field in `/proc/PID/stat`.
  private static final int NICE_VALUE = 19;

  private final LineProgram program;

  private AttackProcess(LineProgram program) {
    this.program = program;
  }

  /// @param nice 0 for everybody's priority to 19 for the lowest: on a machine that is busy with other things such a process
  ///     stands still. Without effect where there is no `nice` and `setsid`.
  /// @param pipeline packets that a connection sends before it hears anything
  /// @param seed the same seed and the same attacks, the same bytes
  public static AttackProcess start(int nice, int pipeline, long seed, Path log) {
    return new AttackProcess(
        LineProgram.start(
            "the attackers",
            niced(nice),
            AttackProgram.class,
            List.of(Integer.toString(pipeline), Long.toString(seed)),
            Map.of(
                FleetProgram.MASTER_KEY, ConnectionManager.MASTER_KEY,
                AttackProgram.GATEWAY_PASSWORD, ConnectionManager.GATEWAY_PASSWORD),
            log));
  }

  private static List<String> niced(int nice) {
    return nice > 0 && Stream.of(SETSID, NICE).allMatch(Files::isExecutable)
        ? List.of(SETSID.toString(), "/bin/sh", "-c", SCRIPT.formatted(nice), "attackers")
        : List.of();
  }

  public long pid() {
    return program.pid();
  }

  /// What the scheduler goes by, the smaller of its process' and its session's.
  public int nice() {
    try {
      Path process = Path.of("/proc/" + program.pid());
      String stat = Files.readString(process.resolve("stat"));
      // The name in the second field may hold blanks and brackets: count from the last bracket.
      String own = stat.substring(stat.lastIndexOf(')') + 2).split(" ")[NICE_VALUE - 3];
      Path group = process.resolve("autogroup");
      String session = Files.exists(group) ? Files.readString(group).trim() : "";
      return Math.min(
          Integer.parseInt(own),
          Integer.parseInt(
              session.isEmpty() ? own : session.substring(session.lastIndexOf(' ') + 1)));
    } catch (IOException e) {
      throw new UncheckedIOException("the attackers have ended", e);
    }
  }

  /// Mutated packets; returns when the plan is carried out.
  public AttackCounts mutate(Door door, InetSocketAddress listener, AttackPlan plan) {
    return AttackCounts.parse(
        program.ask("mutate " + door.text() + " " + text(listener) + " " + plan.text()));
  }

  /// So many connections, one after the other, each of which declares 268 MB and goes on sending, up to a megabyte.
  ///
  /// @return how many the node closed before it had taken that
  public int declare(Door door, InetSocketAddress listener, int connections) {
    return Integer.parseInt(
        program.ask("declare " + door.text() + " " + text(listener) + " " + connections));
  }

  /// Opens so many sockets, half at each listener of the same node, that never finish their first packet, and opens again what
  /// the node closes. Returns when all were opened, or after 30 s.
  ///
  /// @return how many were opened so far
  public long hold(int sockets, InetSocketAddress mqtt, InetSocketAddress tls) {
    return Long.parseLong(program.ask("hold " + sockets + " " + text(mqtt) + " " + tls.getPort()));
  }

  /// Closes the sockets that are held.
  ///
  /// @return how many were opened in all
  public long letGo() {
    return Long.parseLong(program.ask("let-go"));
  }

  private static String text(InetSocketAddress listener) {
    return listener.getHostString() + " " + listener.getPort();
  }

  @Override
  public void close() {
    program.close();
  }
}
