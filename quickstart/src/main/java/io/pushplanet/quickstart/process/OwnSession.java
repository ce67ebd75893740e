package io.pushplanet.quickstart.process;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Starts a child in a session of its own where the system has `setsid`. Otherwise ctrl-C in a
/// terminal would reach all children at once, and a service would lose its database before it can
/// finish its work.
final class OwnSession {
  private static final Path SETSID = Path.of("/usr/bin/setsid");

  private OwnSession() {}

  static List<String> of(List<String> arguments) {
    if (!Files.isExecutable(SETSID)) {
      return arguments;
    }
    var inOwnSession = new ArrayList<String>(arguments.size() + 1);
    inOwnSession.add(SETSID.toString());
    inOwnSession.addAll(arguments);
    return inOwnSession;
  }
}
