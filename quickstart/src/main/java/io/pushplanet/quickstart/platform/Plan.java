package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.services.MySqlAddress;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// How to start a platform.
///
/// @param root the repository, with its modules built
/// @param state the folder of data, logs and addresses; one platform at a time uses it
/// @param external the addresses of the services, for [ServicesChoice#EXTERNAL] only
/// @param address where the platform listens for others than itself
/// @param without programs that are not started
/// @param settings further Spring properties for all programs, such as `gateway.retry.first=1s`
public record Plan(
    Path root,
    Path state,
    ServicesChoice services,
    @Nullable External external,
    PublicAddress address,
    Ports ports,
    Set<Program> without,
    Map<String, String> settings) {

  private static final Duration SERVICES_STOP_WITHIN = Duration.ofSeconds(70);

  public Plan {
    root = root.toAbsolutePath().normalize();
    state = state.toAbsolutePath().normalize();
    without = Set.copyOf(without);
    settings = Map.copyOf(settings);
    if ((services == ServicesChoice.EXTERNAL) != (external != null)) {
      throw new IllegalArgumentException(
          "addresses of services are given for external services, and only for these");
    }
  }

  /// How long each program may take to stop before it is killed.
  Duration stopGrace() {
    return StopGrace.of(settings);
  }

  /// The longest time that the platform takes to stop: the programs, then the services, then the
  /// simulators.
  public Duration stopsWithin() {
    return stopGrace().plus(SERVICES_STOP_WITHIN);
  }

  /// Servers that already run.
  public record External(MySqlAddress mysql, URI redis, URI amqp) {}

  /// The same with another address.
  public Plan listeningOn(PublicAddress other) {
    return new Plan(root, state, services, external, other, ports, without, settings);
  }

  /// For tests: for this machine alone, on free ports, services as `auto` chooses.
  public static Plan forTests(Path root, Path state) {
    return new Plan(
        root,
        state,
        ServicesChoice.AUTO,
        null,
        PublicAddress.THIS_MACHINE,
        Ports.free(Map.of()),
        Set.of(),
        Map.of());
  }
}
