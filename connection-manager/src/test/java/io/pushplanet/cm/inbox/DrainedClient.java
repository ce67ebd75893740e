package io.pushplanet.cm.inbox;

import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.message.MessageId;
import java.util.ArrayDeque;
import java.util.Queue;
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

  static final class HandLoop implements Loop {
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    long nowNanos;

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public long nowNanos() {
      return nowNanos;
    }

    void turn() {
      for (var next = tasks.poll(); next != null; next = tasks.poll()) {
        next.run();
      }
    }
  }
}
