package io.pushplanet.load.node;

import io.pushplanet.load.fleet.FleetProgram;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.AttackProgram;
import io.pushplanet.load.hostile.Door;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// Attackers in a process of their own, so that nobody who measures shares a heap with them, which
/// gets what processors have to spare: they stand for other machines. Ends with this JVM: its
/// standard input does. Not thread-safe; every call waits for the answer.
public final class AttackProcess implements AutoCloseable {
  private final LineProgram program;

  private AttackProcess(LineProgram program) {
    this.program = program;
  }

  /// @param spare whether they get only what others leave: on a machine that is busy with other
  ///     things they stand still. Without effect where there is no `chrt`
  /// @param pipeline packets that a connection sends before it hears anything
  /// @param seed the same seed and the same attacks, the same bytes
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

  /// Whether the scheduler gives them only what others leave.
  public boolean isSpare() {
    return Spare.isOnly(program.pid());
  }

  /// Mutated packets; returns when the plan is carried out.
  public AttackCounts mutate(Door door, InetSocketAddress listener, AttackPlan plan) {
    return AttackCounts.parse(
        program.ask("mutate " + door.text() + " " + text(listener) + " " + plan.text()));
  }

  /// So many connections, one after the other, each of which declares 268 MB and goes on sending,
  /// up to a megabyte.
  ///
  /// @return how many the node closed before it had taken that
  public int declare(Door door, InetSocketAddress listener, int connections) {
    return Integer.parseInt(
        program.ask("declare " + door.text() + " " + text(listener) + " " + connections));
  }

  /// Opens so many sockets, half at each listener of the same node, that never finish their first
  /// packet, and opens again what the node closes. Returns when all were opened, or after 30 s.
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
