package io.pushplanet.simulators.hms;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;

/// How many tokens an app may send to in a second of the clock. Thread-safe.
final class FlowControl {
  private final Clock clock;

  @GuardedBy("this")
  private final Map<String, Integer> taken = new HashMap<>();

  @GuardedBy("this")
  private long second;

  private volatile int perSecond = Integer.MAX_VALUE;

  /// Without a limit at first.
  FlowControl(Clock clock) {
    this.clock = clock;
  }

  void limit(int tokensPerSecond) {
    if (tokensPerSecond < 1) {
      throw new IllegalArgumentException("tokens_per_second is at least 1");
    }
    perSecond = tokensPerSecond;
  }

  /// @return whether this second has room for so many more; if so they are counted
  boolean takes(String app, int tokens) {
    return perSecond == Integer.MAX_VALUE || hasRoom(app, tokens);
  }

  private synchronized boolean hasRoom(String app, int tokens) {
    long now = clock.instant().getEpochSecond();
    if (now != second) {
      second = now;
      taken.clear();
    }
    int after = taken.getOrDefault(app, 0) + tokens;
    if (after > perSecond) {
      return false;
    }
    taken.put(app, after);
    return true;
  }
}
