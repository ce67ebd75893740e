package io.pushplanet.cm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// Clients in a small JVM of their own: neither their memory nor what they do to their TLS belongs to this one. What they say
/// on standard error appears here.
final class ClientJvm {
  private ClientJvm() {}

  /// Runs its `main` with the tests' class path. To be destroyed by whoever starts it.
  static Process start(Class<?> main, Object... arguments) throws IOException {
    var command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx128m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                main.getName()));
    for (var argument : arguments) {
      command.add(argument.toString());
    }
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }
}
