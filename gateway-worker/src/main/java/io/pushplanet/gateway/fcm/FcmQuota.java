package io.pushplanet.gateway.fcm;

import java.time.Duration;

/// What all workers together send at most to one Firebase project.
public record FcmQuota(int messagesPerMinute) {
  /// After such a pause the rate begins anew.
  public static final Duration PAUSE = Schedule.RAMP;

  /// Messages a second when the rate has climbed for so long after a pause ([Schedule#RAMP]), if
  /// Google refuses none.
  public double perSecond(Duration climbed) {
    double part = (double) climbed.toNanos() / Schedule.RAMP.toNanos();
    double level = Schedule.SLOWEST + (1 - Schedule.SLOWEST) * Math.min(1, part);
    return level * messagesPerMinute / 60;
  }
}
