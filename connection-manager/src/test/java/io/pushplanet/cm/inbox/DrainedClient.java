package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.common.message.MessageId;
import org.jspecify.annotations.Nullable;

/// A device whose inbox is drained, on a loop that is turned by hand.
final class DrainedClient extends QuietClient {
  final HandLoop loop;
  private @Nullable InboxDrain drain;

  DrainedClient(HandLoop loop) {
    this(loop, MqttVersion.V5);
  }

  DrainedClient(HandLoop loop, MqttVersion version) {
    super(loop, version);
    this.loop = loop;
  }

  InboxDrain drain(ParkedMessages inbox, DeviceSession session) {
    var made = new InboxDrain(inbox, session);
    drain = made;
    return made;
  }

  @Override
  public void askForParked() {
    if (drain != null) {
      drain.wanted();
    }
  }

  @Override
  public boolean isInboxAheadOf(MessageId fresh) {
    return drain != null && drain.isAheadOf(fresh);
  }

  @Override
  public @Nullable OutboundMessage nextParked(@Nullable MessageId fresh) {
    return drain == null ? null : drain.next(fresh);
  }
}
