package io.pushplanet.load.client;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import java.util.List;

/// A message that was answered with 202.
///
/// @param reference the sender's `data.ref`, which identifies the message in a provider's ledger
public record AcceptedMessage(MessageId id, String reference, List<DeviceId> recipients) {
  public AcceptedMessage {
    recipients = List.copyOf(recipients);
  }
}
