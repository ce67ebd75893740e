package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.StartRefused;

/// The exit codes of `./pushplanet`. 3 (no JDK 25) and 8 (the build failed) are the script's own.
enum ExitCode {
  OK(0),
  FAILED(1),
  USAGE(2),
  PORT_TAKEN(4),
  SERVICE_FAILED(5),
  ALREADY_RUNNING(6),
  NOT_RUNNING(7);

  private final int code;

  ExitCode(int code) {
    this.code = code;
  }

  static ExitCode of(StartRefused.Reason reason) {
    return switch (reason) {
      case PORT_TAKEN -> PORT_TAKEN;
      case UP_ALREADY -> ALREADY_RUNNING;
      case STATE_UNUSABLE -> FAILED;
    };
  }

  int code() {
    return code;
  }
}
