package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.AddressFile;
import io.pushplanet.quickstart.platform.Addresses;
import io.pushplanet.quickstart.platform.Rest;
import io.pushplanet.quickstart.platform.StartRefused;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.nio.file.Path;
import java.util.List;

/// The main program of `./pushplanet`: one command with its options.
///
/// The script starts it, with the system property `pushplanet.root`, the repository. The script
/// itself prints the help.
public final class PushPlanet {
  /// Begins a line that says why a command failed.
  static final String COMPLAINT = "pushplanet: ";

  private static final String USUAL_STATE = ".pushplanet";

  private PushPlanet() {}

  public static void main(String[] arguments) {
    System.exit(run(List.of(arguments)).code());
  }

  private static ExitCode run(List<String> arguments) {
    String command = arguments.isEmpty() ? "" : arguments.getFirst();
    List<String> rest = arguments.stream().skip(1).toList();
    Path root = Path.of(System.getProperty("pushplanet.root", ".")).toAbsolutePath().normalize();
    try {
      return switch (command) {
        case "up" -> Up.run(root, rest);
        case "down" -> Down.run(root, rest);
        case "status" -> Status.run(root, rest);
        case "demo" -> Demo.run(root, rest);
        case "send" -> Send.run(root, rest);
        case "bench" -> Bench.run(root, rest);
        default -> throw Options.usage("there is no command '" + command + "'");
      };
    } catch (Refusal e) {
      return complain(e, e.exitCode());
    } catch (StartRefused e) {
      return complain(e, ExitCode.of(e.reason()));
    } catch (ProcessFailed e) {
      return complain(e, ExitCode.SERVICE_FAILED);
    } catch (Rest.Refused e) {
      return complain(e, ExitCode.FAILED);
    } catch (RuntimeException e) {
      // A bug or a broken disk: only the whole trace is of use.
      System.err.println("pushplanet " + command + " failed");
      e.printStackTrace(System.err);
      return ExitCode.FAILED;
    }
  }

  private static ExitCode complain(RuntimeException refusal, ExitCode code) {
    System.err.println(COMPLAINT + refusal.getMessage());
    return code;
  }

  /// The state directory that the options name, `.pushplanet` in the repository unless given.
  static Path state(Path root, Options options) {
    return options
        .value("--state")
        .map(given -> {
          if (given.isBlank()) {
            throw Options.usage("--state names no directory");
          }
          return Path.of(given);
        })
        .orElseGet(() -> root.resolve(USUAL_STATE))
        .toAbsolutePath()
        .normalize();
  }

  /// The option by which a further command finds this state: empty for the usual state, else with a
  /// leading blank.
  static String stateOption(Path root, Path state) {
    return state.equals(root.resolve(USUAL_STATE)) ? "" : " '--state=" + state + "'";
  }

  /// The addresses of the platform with this state.
  static Addresses addresses(Path root, Path state) {
    return AddressFile.read(state)
        .orElseThrow(() ->
            new Refusal(
                ExitCode.NOT_RUNNING,
                "nothing is up with its state in %s; start it with ./pushplanet up%s%s"
                    .formatted(state, stateOption(root, state), whyNot(state))));
  }

  private static String whyNot(Path state) {
    return SupervisorLog.complaint(state)
        .map(why ->
            ".%nThe last one in the background said: %s. More is in %s"
                .formatted(why, SupervisorLog.in(state)))
        .orElse("");
  }
}
