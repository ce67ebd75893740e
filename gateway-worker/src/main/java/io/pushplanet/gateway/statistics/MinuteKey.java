package io.pushplanet.gateway.statistics;

import io.pushplanet.common.message.AppId;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;

/// The key of a row of `statistics_minutes`. `channel` and `reason` are empty when the event has
/// none.
record MinuteKey(Instant minute, AppId app, String channel, String outcome, String reason)
    implements Comparable<MinuteKey> {
  private static final Comparator<MinuteKey> ORDER =
      Comparator.comparing(MinuteKey::minute)
          .thenComparing(MinuteKey::app)
          .thenComparing(MinuteKey::channel)
          .thenComparing(MinuteKey::outcome)
          .thenComparing(MinuteKey::reason);

  MinuteKey {
    minute = minute.truncatedTo(ChronoUnit.MINUTES);
  }

  @Override
  public int compareTo(MinuteKey other) {
    return ORDER.compare(this, other);
  }
}
