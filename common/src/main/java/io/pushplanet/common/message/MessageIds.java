package io.pushplanet.common.message;

import java.time.Clock;
import java.util.UUID;
import java.util.random.RandomGenerator;

/// Makes message ids: UUIDv7 from the clock's milliseconds and 74 random bits. Thread-safe when its source of randomness is.
public final class MessageIds {
  private final Clock clock;
  private final RandomGenerator random;

  public MessageIds(Clock clock, RandomGenerator random) {
    this.clock = clock;
    this.random = random;
  }

  public MessageId next() {
    long high = (clock.millis() << 16) | 0x7000L | (random.nextLong() & 0xfffL);
    long low = 0x8000_0000_0000_0000L | (random.nextLong() >>> 2);
    return new MessageId(new UUID(high, low).toString());
  }
}
