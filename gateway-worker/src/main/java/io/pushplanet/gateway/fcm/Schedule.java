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

  /// The same for who was sent away before: they come back in bursts, as often as `later` is looked through.
  Duration LONGEST_WAIT_AGAIN = Duration.ofMillis(500);

  /// What came of asking.
  sealed interface Answer {
    /// @param startsIn when the first leaves; negative = it could have left before
    /// @param gapNanos from one to the next
    /// @param outlook for those that find no place
    record Places(Duration startsIn, int messages, long gapNanos, Outlook outlook)
        implements Answer {}

    /// Ask again after so long.
    record None(Duration delay) implements Answer {}
  }

  /// How many messages a second the asking worker will have a place for: its part of the rate, which climbs.
  ///
  /// @param now messages a second
  /// @param most the rate's end
  /// @param gain messages a second that are more each second
  record Outlook(double now, double most, double gain) {
    /// Nanoseconds between two messages so many seconds from now.
    long gapNanos(double seconds) {
      return (long) (1e9 / Math.min(most, now + gain * Math.max(0, seconds)));
    }
  }

  /// Takes places for so many messages.
  ///
  /// @param longestWait until the first; with a longer one there is no place
  Answer take(Priority priority, int messages, Duration longestWait);

  /// Google said that the project has sent too much, and for how long it should rest.
  void refused(Duration rest);
}
