package io.pushplanet.cm.transport.websocket;

/// What an HTTP request on a WebSocket listener came to. Both carry the whole answer.
sealed interface UpgradeOutcome {
  record Upgraded(byte[] answer) implements UpgradeOutcome {}

  record Refused(byte[] answer) implements UpgradeOutcome {}
}
