package io.pushplanet.quickstart.process;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/// What to start: the arguments, what to add to our own environment, where it runs and where its output goes.
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
