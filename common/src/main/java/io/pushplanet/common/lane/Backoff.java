package io.pushplanet.common.lane;

import java.time.Duration;
import java.util.random.RandomGenerator;

/// The pauses between attempts to connect. Each is twice as long as the one before it, up to a
/// longest, and lies between half and one and a half times its length, so that many processes do
/// not come back at the same moment. Confined to one thread.
public final class Backoff {
  private final Duration first;
  private final Duration longest;
  private final RandomGenerator random;
  private Duration pause;

  public Backoff(Duration first, Duration longest, RandomGenerator random) {
    this.first = first;
    this.longest = longest;
    this.random = random;
    this.pause = first;
  }

  /// Begins again with the first pause: the attempt succeeded.
  public void reset() {
    pause = first;
  }

  /// How long to wait before the next attempt.
  public Duration next() {
    long millis = pause.toMillis();
    Duration twice = pause.multipliedBy(2);
    pause = twice.compareTo(longest) > 0 ? longest : twice;
    return Duration.ofMillis(millis / 2 + random.nextLong(millis));
  }
}
