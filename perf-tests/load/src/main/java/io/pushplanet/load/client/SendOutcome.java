package io.pushplanet.load.client;

import io.pushplanet.common.message.MessageId;

/// The outcome of one request to send.
public sealed interface SendOutcome {
  /// 202.
  record Accepted(MessageId id) implements SendOutcome {}

  /// Any other answer. After a 5xx the message may be on its way nevertheless.
  record Refused(int status, String body) implements SendOutcome {}

  /// No answer: the message may be on its way.
  record Unanswered(String why) implements SendOutcome {}
}
