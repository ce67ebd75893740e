package io.pushplanet.load.crowd;

import io.pushplanet.load.fleet.FleetProgram;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.AttackProgram;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.node.ConnectionManager;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// Low-priority attackers in a process of their own: they stand for other machines, and must not
/// share the heap of the meter. They end with this JVM, because their standard input does. Not
/// thread-safe; every call waits for the answer.
public final class AttackProcess implements AutoCloseable {
  private final LineProgram program;

  private AttackProcess(LineProgram program) {
    this.program = program;
  }

  /// @param spare whether they get only the processor time that others leave: on a busy machine
  ///     they stand still. Without effect where there is no `chrt`
  /// @param pipeline packets that a connection sends before it reads an answer, at most
  /// @param seed the same attacks with the same seed send the same bytes
  public static AttackProcess start(boolean spare, int pipeline, long seed, Path log) {
    return new AttackProcess(
        LineProgram.start(
            "the attackers",
            spare ? Spare.command() : List.of(),
            AttackProgram.class,
            List.of(Integer.toString(pipeline), Long.toString(seed)),
            Map.of(
                FleetProgram.MASTER_KEY, ConnectionManager.MASTER_KEY,
                AttackProgram.GATEWAY_PASSWORD, ConnectionManager.GATEWAY_PASSWORD),
            log));
  }

  public long pid() {
    return program.pid();
  }

  /// Whether the scheduler gives them only the time that others leave.
  public boolean isSpare() {
    return Spare.isOnly(program.pid());
  }

  /// Sends mutated packets; returns when the plan is done.
  public AttackCounts mutate(Door door, InetSocketAddress listener, AttackPlan plan) {
    return AttackCounts.parse(
        program.ask("mutate " + door.text() + " " + text(listener) + " " + plan.text()));
  }

  /// Opens this number of connections, one after the other, each of which declares 268 MB and sends
  /// up to a megabyte.
  ///
  /// @return how many the node closed before it had read that
  public int declare(Door door, InetSocketAddress listener, int connections) {
    return Integer.parseInt(
        program.ask("declare " + door.text() + " " + text(listener) + " " + connections));
  }

  /// Opens this number of sockets, as many at each listener of the same node, that never finish
  /// what they begin, and replaces those that the node closes. Returns when all were opened, or
  /// after 30 s.
  ///
  /// @return how many were opened so far
  public long hold(int sockets, Map<Door, InetSocketAddress> listeners) {
    String ports =
        listeners.entrySet().stream()
            .map(listener -> listener.getKey().text() + ":" + listener.getValue().getPort())
            .collect(Collectors.joining(","));
    String host = listeners.values().iterator().next().getHostString();
    return Long.parseLong(program.ask("hold " + sockets + " " + host + " " + ports));
  }

  /// Closes the open sockets.
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
