package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.AddressFile;
import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.platform.Rest;
import io.pushplanet.quickstart.platform.StateLock;
import io.pushplanet.quickstart.process.ChildRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/// `./pushplanet status`: each process, whether it runs, and whether each program says that it is
/// ready.
final class Status {
  private Status() {}

  static ExitCode run(Path root, List<String> arguments) {
    Options options = Options.parse(arguments, Options.Names.STATE);
    Path state = PushPlanet.state(root, options);
    List<ChildRecord> records =
        ChildRecord.below(state).stream().sorted(Comparator.comparing(ChildRecord::name)).toList();
    boolean starting =
        records.stream()
            .anyMatch(record ->
                record.name().equals(StateLock.SUPERVISOR) && record.process().isPresent());
    if (AddressFile.read(state).isEmpty() && starting) {
      System.out.println("the platform is starting or stopping");
      return ExitCode.NOT_RUNNING;
    }
    Addresses addresses = PushPlanet.addresses(root, state);
    boolean good = starting;
    for (ChildRecord record : records) {
      boolean alive = record.process().isPresent();
      good &= alive;
      System.out.printf(
          "%-20s %-8s process %d%n", record.name(), alive ? "runs" : "DEAD", record.pid());
    }
    for (Program program : Program.values()) {
      if (records.stream().anyMatch(record -> record.name().equals(program.text()))) {
        Optional<String> obstacle = obstacle(program, addresses.managementUrlOf(program));
        System.out.printf(
            "%-20s %s%n", program.text(), obstacle.map("NOT READY: "::concat).orElse("ready"));
        good &= obstacle.isEmpty();
      }
    }
    if (!good) {
      String option = PushPlanet.stateOption(root, state);
      System.out.println(
          """
          not everything is up. What is NOT READY gets ready once what it waits for answers; its log in %s says more.
          What is DEAD comes back with a new start: stop the rest with ./pushplanet down%s, then ./pushplanet up%s\
          """
              .formatted(state.resolve("logs"), option, option));
      return ExitCode.SERVICE_FAILED;
    }
    System.out.println(Welcome.text(addresses, root, state));
    return ExitCode.OK;
  }

  /// Why a program is not ready, for people; empty when it is ready.
  static Optional<String> obstacle(Program program, String managementUrl) {
    try (var rest = new Rest(managementUrl, "")) {
      if (rest.statusOf(program.readinessPath()) == 200) {
        return Optional.empty();
      }
      JsonNode components = rest.bodyOf(program.readinessPath()).path("components");
      String reasons =
          components.properties().stream()
              .filter(component -> !component.getValue().path("status").asString("").equals("UP"))
              .map(component -> reason(component.getKey(), component.getValue()))
              .collect(Collectors.joining("; "));
      return Optional.of(
          reasons.isEmpty()
              ? managementUrl + program.readinessPath() + " says that it is not, and not why"
              : reasons);
    } catch (IOException e) {
      return Optional.of("it does not answer at " + managementUrl + " (" + e + ")");
    }
  }

  private static String reason(String component, JsonNode health) {
    String reason = health.path("details").path("reason").asString("");
    return reason.isEmpty() ? component + " is " + health.path("status").asString("?") : reason;
  }
}
