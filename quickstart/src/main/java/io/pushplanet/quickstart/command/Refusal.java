package io.pushplanet.quickstart.command;

/// A command cannot do what it was asked to; the message tells the user what to do about it.
final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ExitCode exitCode;

  Refusal(ExitCode exitCode, String message) {
    super(message);
    this.exitCode = exitCode;
  }

  ExitCode exitCode() {
    return exitCode;
  }
}
