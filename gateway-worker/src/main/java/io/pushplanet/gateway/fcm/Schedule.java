package io.pushplanet.gateway.fcm;

import io.pushplanet.common.message.Priority;
import java.time.Duration;

/// In what order the messages of one Firebase project leave, whoever sends them. Places are so many messages at an even pace,
/// and nobody else gets them.
interface Schedule {
  /// After a pause the rate climbs from [#SLOWEST] to the whole within this time, as Google asks
  /// (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
  Duration RAMP = Duration.ofSeconds(60);

  double SLOWEST = 0.1;

  /// Part of the quota that is used at most.
  double SHARE = 0.99;

  /// What a refusal makes of the rate, and how fast it climbs afterwards.
  double CUT = 0.7;

  double CLIMB_PER_SECOND = 0.002;

  /// Refusals of requests that were under way together are one refusal.
  Duration ONE_REFUSAL = Duration.ofSeconds(1);

  /// So much may leave ahead of its time: messages come in batches.
  Duration AHEAD = Duration.ofMillis(50);

  /// Who would have to wait longer gets no place.
  Duration LONGEST_WAIT = Duration.ofMillis(250);

  /// What came of asking.
  sealed interface Answer {
    /// @param startsIn when the first leaves; negative = it could have left before
    /// @param gapNanos from one to the next
    record Places(Duration startsIn, int messages, long gapNanos) implements Answer {}

    /// Ask again after so long.
    record None(Duration delay) implements Answer {}
  }

  /// Takes places for so many messages.
  Answer take(Priority priority, int messages);

  /// Google said that the project has sent too much, and for how long it should rest.
  void refused(Duration rest);
}
