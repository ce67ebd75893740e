package io.pushplanet.quickstart.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// A process to start: its arguments, the variables to add to our own environment, its working
/// folder and its log.
public record Command(
    String name,
    List<String> arguments,
    Map<String, String> environment,
    Path directory,
    Path log) {

  public Command {
    if (arguments.isEmpty()) {
      throw new IllegalArgumentException(name + " has no program to start");
    }
    arguments = List.copyOf(arguments);
    environment = Map.copyOf(environment);
  }
}
