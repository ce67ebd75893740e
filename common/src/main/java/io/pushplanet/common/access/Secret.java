package io.pushplanet.common.access;

/// A text that must not reach a log: `toString` hides it.
public record Secret(String reveal) {
  @Override
  public String toString() {
    return "***";
  }
}
