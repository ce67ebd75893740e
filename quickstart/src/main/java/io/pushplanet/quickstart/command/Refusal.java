package io.pushplanet.quickstart.command;

/// A command cannot do what the user asked; the message says how to mend that.
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
