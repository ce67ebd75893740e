package io.pushplanet.cm.transport.websocket;

/// The outcome of an HTTP request on a WebSocket listener. Both cases carry the whole answer.
sealed interface UpgradeOutcome {
  record Upgraded(byte[] answer) implements UpgradeOutcome {}

  record Refused(byte[] answer) implements UpgradeOutcome {}
}
