package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ChildRecord;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;

/// `./pushplanet status`: each process, whether it lives, and whether the programs call themselves ready.
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
    Addresses addresses = PushPlanet.addresses(state);
    boolean good = starting;
    for (ChildRecord record : records) {
      boolean alive = record.process().isPresent();
      good &= alive;
      System.out.printf(
          "%-20s %-8s process %d%n", record.name(), alive ? "runs" : "DEAD", record.pid());
    }
    for (Program program : Program.values()) {
      if (records.stream().anyMatch(record -> record.name().equals(program.text()))) {
        good &= ready(program, addresses.managementUrlOf(program));
      }
    }
    if (!good) {
      System.out.println(
          "not everything is up; stop the rest with ./pushplanet down"
              + PushPlanet.stateOption(root, state));
      return ExitCode.SERVICE_FAILED;
    }
    System.out.println(Welcome.text(addresses, root, state));
    return ExitCode.OK;
  }

  private static boolean ready(Program program, String managementUrl) {
    try (var rest = new Rest(managementUrl, "")) {
      int status = rest.statusOf(program.readinessPath());
      System.out.printf(
          "%-20s %s%n",
          program.text(),
          status == 200 ? "ready" : "NOT READY: " + managementUrl + " says " + status);
      return status == 200;
    } catch (IOException e) {
      System.out.printf(
          "%-20s NOT READY: %s does not answer (%s)%n", program.text(), managementUrl, e);
      return false;
    }
  }
}
