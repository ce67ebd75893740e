package io.pushplanet.common.message;

import java.time.Clock;
import java.time.Instant;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.random.RandomGenerator;

/// Makes message ids: UUIDv7 from the clock's milliseconds, the fraction of the millisecond in 12
/// bits, and 62 random bits (RFC 9562, section 6.2, method 3). Devices get their waiting messages
/// in the order of the ids, so each id is greater than those made before, unless the clock was set
/// back by more than a second. Thread-safe when its source of randomness is.
public final class MessageIds {
  private static final int PARTS = 4_096;
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final long MAX_AHEAD = 1_000 * PARTS;

  private final Clock clock;
  private final RandomGenerator random;

  /// The time of the last id, in 4,096ths of a millisecond since 1970.
  private final AtomicLong last = new AtomicLong();

  public MessageIds(Clock clock, RandomGenerator random) {
    this.clock = clock;
    this.random = random;
  }

  public MessageId next() {
    Instant now = clock.instant();
    long parts =
        now.toEpochMilli() * PARTS
            + (long) now.getNano() % NANOS_PER_MILLI * PARTS / NANOS_PER_MILLI;
    return of(
        last.updateAndGet(
            before -> parts > before || before - parts > MAX_AHEAD ? parts : before + 1),
        random.nextLong());
  }

  /// An id this many places after another one, and before the ids of the next millisecond.
  ///
  /// @param places below 4,096
  /// @param random its last 62 bits
  public static MessageId after(MessageId first, int places, long random) {
    long high = UUID.fromString(first.value()).getMostSignificantBits();
    return of((high >>> 16) * PARTS + (high & 0xfff) + places, random);
  }

  private static MessageId of(long parts, long random) {
    long high = ((parts / PARTS) << 16) | 0x7000 | (parts % PARTS);
    long low = 0x8000_0000_0000_0000L | (random >>> 2);
    return new MessageId(new UUID(high, low).toString());
  }
}
