package io.pushplanet.cm.delivery;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.session.Letter;
import io.pushplanet.common.wire.NodeFrame;
import java.time.Duration;
import java.time.Instant;

/// What is made of every frame as it arrives.
final class FrameArrival {
  // Clocks of gateways and nodes differ; a frame is stale only when no such difference explains it.
  private static final Duration STALE_AFTER = Duration.ofSeconds(5);

  private FrameArrival() {}

  static boolean isStale(Instant now, Instant answerBy) {
    return now.isAfter(answerBy.plus(STALE_AFTER));
  }

  static Letter letter(NodeFrame.Letter letter) {
    return new Letter(letter.id(), Binary.of(letter.payload()), letter.expiresAt().toEpochMilli());
  }
}
