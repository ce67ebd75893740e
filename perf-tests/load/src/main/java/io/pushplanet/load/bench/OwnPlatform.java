package io.pushplanet.load.bench;

import io.pushplanet.load.scenario.Target;
import io.pushplanet.quickstart.platform.Plan;
import io.pushplanet.quickstart.platform.Platform;
import io.pushplanet.quickstart.platform.Ports;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.platform.PublicAddress;
import io.pushplanet.quickstart.services.ServicesChoice;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/// A platform that a bench starts, with its state in the run's own folder, and stops again.
public record OwnPlatform(Path directory, Platform platform, Target target)
    implements AutoCloseable {
  /// @param without programs that are not started
  /// @param settings further Spring properties for all programs
  public static OwnPlatform start(Run run, Set<Program> without, Map<String, String> settings) {
    Path directory = run.ownDirectory();
    Plan plan =
        new Plan(
            run.root(),
            directory,
            ServicesChoice.AUTO,
            null,
            PublicAddress.THIS_MACHINE,
            Ports.free(Map.of()),
            without,
            settings);
    Platform platform = Platform.start(plan, line -> run.out().println(line));
    return new OwnPlatform(directory, platform, Target.of(directory.resolve("quickstart.json")));
  }

  /// The address of the worker's meters.
  public int workerPort() {
    return URI.create(platform.addresses().workerManagementUrl()).getPort();
  }

  @Override
  public void close() {
    platform.close();
  }
}
