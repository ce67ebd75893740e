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
  /// When the address file does not say how long the platform may take: it is starting, or stopping
  /// already.
  private static final Duration USUAL_STOP = Duration.ofSeconds(100);

  /// The supervisor itself gives up first, and says so.
  private static final Duration MARGIN = Duration.ofSeconds(10);

  private static final Duration PATIENCE = Duration.ofSeconds(3);
  private static final Duration LEFTOVER_GRACE = Duration.ofSeconds(15);

  private Down() {}

  static ExitCode run(Path root, List<String> arguments) {
    Options options = Options.parse(arguments, Options.Names.STATE);
    Path state = PushPlanet.state(root, options);
    Duration longest =
        AddressFile.read(state)
            .map(addresses -> Duration.ofSeconds(addresses.stopsWithinSeconds()))
            .orElse(USUAL_STOP);
    boolean stopped = false;
    for (ChildRecord record : ChildRecord.below(state)) {
      if (record.name().equals(StateLock.SUPERVISOR)) {
        stopped |= record.end(longest.plus(MARGIN), PATIENCE, () -> tellWaiting(longest));
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

  private static void tellWaiting(Duration longest) {
    System.out.printf(
        "waiting for the programs to end what they have begun, and for the servers: at most %d s%n",
        longest.toSeconds());
  }
}
