package io.pushplanet.quickstart.process;

/// A child process did not start, did not become ready in time, or died. The message holds its last
/// log lines.
public final class ProcessFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ProcessFailed(String message) {
    super(message);
  }

  public ProcessFailed(String message, Throwable cause) {
    super(message, cause);
  }
}
