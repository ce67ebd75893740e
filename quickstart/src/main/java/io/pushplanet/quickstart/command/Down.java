package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.AddressFile;
import io.pushplanet.quickstart.platform.StateLock;
import io.pushplanet.quickstart.process.ChildRecord;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// `./pushplanet down`: ends the supervisor, which stops everything; then ends the processes that a
/// killed supervisor left behind.
final class Down {
  private static final Duration SUPERVISOR_GRACE = Duration.ofSeconds(100);
  private static final Duration LEFTOVER_GRACE = Duration.ofSeconds(15);

  private Down() {}

  static ExitCode run(Path root, List<String> arguments) {
    Options options = Options.parse(arguments, Options.Names.STATE);
    Path state = PushPlanet.state(root, options);
    boolean stopped = false;
    for (ChildRecord record : ChildRecord.below(state)) {
      if (record.name().equals(StateLock.SUPERVISOR)) {
        stopped |= record.end(SUPERVISOR_GRACE);
      }
    }
    for (ChildRecord record : ChildRecord.below(state)) {
      if (record.end(LEFTOVER_GRACE)) {
        System.out.println(
            "ended "
                + record.name()
                + " (process "
                + record.pid()
                + "), which had been left behind");
        stopped = true;
      }
    }
    AddressFile.delete(state);
    System.out.println(
        stopped
            ? "everything is stopped; the data stays in " + state
            : "nothing is up with its state in " + state);
    return ExitCode.OK;
  }
}
