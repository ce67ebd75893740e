package io.pushplanet.load.hostile;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.device.DeviceCredential;
import io.pushplanet.load.fleet.Commands;
import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.fleet.FleetProgram;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/// Attackers as a program: one command per line on standard input, one answer per line on standard
/// output. It ends with its input, also during an attack.
public final class AttackProgram {
  /// The environment variable with the password of a node's user `gateway`.
  public static final String GATEWAY_PASSWORD = "ATTACK_GATEWAY_PASSWORD";

  /// So many that none publishes faster than a node allows.
  private static final int KNOWN_DEVICES = 10_000;

  private static final Duration SLOW_START = Duration.ofSeconds(30);

  /// The distance between the seeds of two attacks, because each thread adds its number.
  private static final int SEEDS = 1_000;

  private final List<Device> known;
  private final String gatewayPassword;
  private final int pipeline;
  private long seed;
  private @Nullable Slowloris slow;

  private AttackProgram(List<Device> known, String gatewayPassword, int pipeline, long seed) {
    this.known = known;
    this.gatewayPassword = gatewayPassword;
    this.pipeline = pipeline;
    this.seed = seed;
  }

  /// Arguments: how many packets a connection sends at most before it reads an answer, and a seed:
  /// the same attacks with it send the same bytes. The environment holds the key that signs
  /// devices' credentials ([FleetProgram#MASTER_KEY]) and [#GATEWAY_PASSWORD].
  public static void main(String[] arguments) throws IOException {
    var credential =
        new DeviceCredential(
            MasterKey.parse(System.getenv(FleetProgram.MASTER_KEY)), Clock.systemUTC());
    var program =
        new AttackProgram(
            IntStream.range(0, KNOWN_DEVICES)
                .mapToObj(number -> FleetProgram.device("0190ca13", number, credential))
                .toList(),
            System.getenv(GATEWAY_PASSWORD),
            Integer.parseInt(arguments[0]),
            Long.parseLong(arguments[1]));
    Commands.answer(System.in, System.out, program::answer);
  }

  private String answer(String line) {
    String[] command = line.split(" ", 5);
    return switch (command[0]) {
      case "mutate" -> mutate(attack(command), AttackPlan.parse(command[4]));
      case "declare" -> declare(attack(command), Integer.parseInt(command[4]));
      case "hold" -> hold(Integer.parseInt(command[1]), listeners(command[2], command[3]));
      case "let-go" -> letGo();
      default -> "failed: no such command";
    };
  }

  private Attack attack(String[] command) {
    return new Attack(
        Door.named(command[1]), address(command, 3), known, gatewayPassword, pipeline);
  }

  /// The host is the third word of every command.
  private static InetSocketAddress address(String[] command, int port) {
    return new InetSocketAddress(command[2], Integer.parseInt(command[port]));
  }

  /// @param ports such as `mqtt:1883,ws:8083`
  private static Map<Door, InetSocketAddress> listeners(String host, String ports) {
    Map<Door, InetSocketAddress> listeners = new EnumMap<>(Door.class);
    for (String pair : ports.split(",")) {
      int colon = pair.indexOf(':');
      listeners.put(
          Door.named(pair.substring(0, colon)),
          new InetSocketAddress(host, Integer.parseInt(pair.substring(colon + 1))));
    }
    return listeners;
  }

  private String mutate(Attack attack, AttackPlan plan) {
    seed += SEEDS;
    return attack.run(plan, seed).text();
  }

  private static String declare(Attack attack, int connections) {
    return Long.toString(
        IntStream.range(0, connections).filter(number -> attack.declare()).count());
  }

  /// Returns when all sockets are open, or some have failed to open for too long.
  private String hold(int sockets, Map<Door, InetSocketAddress> listeners) {
    Slowloris started = Slowloris.start(sockets, listeners);
    slow = started;
    long allBy = System.nanoTime() + SLOW_START.toNanos();
    while (started.opened() < sockets && System.nanoTime() - allBy < 0) {
      LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
    }
    return Long.toString(started.opened());
  }

  private String letGo() {
    Slowloris held = slow;
    if (held == null) {
      return "0";
    }
    held.close();
    slow = null;
    return Long.toString(held.opened());
  }
}
