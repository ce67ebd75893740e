package io.pushplanet.gateway.fcm;

import io.pushplanet.common.message.Priority;
import java.time.Duration;

/// In what order the messages of one Firebase project leave, whichever worker sends them. A place
/// lets one message leave at its time, at an even pace, and belongs to one worker.
interface Schedule {
  /// After a pause the rate climbs from [#SLOWEST] to the whole within this time, as Google asks
  /// (https://firebase.google.com/docs/cloud-messaging/scale-fcm).
  Duration RAMP = Duration.ofSeconds(60);

  double SLOWEST = 0.1;

  /// The share of the quota that is used at most.
  double SHARE = 0.99;

  /// The factor by which a refusal lowers the rate, and how fast it climbs afterwards.
  double CUT = 0.7;

  double CLIMB_PER_SECOND = 0.002;

  /// Refusals of requests that were under way together count as one.
  Duration ONE_REFUSAL = Duration.ofSeconds(1);

  /// How far ahead of its time a message may leave, because messages come in batches.
  Duration AHEAD = Duration.ofMillis(50);

  /// A message that would have to wait longer gets no place.
  Duration LONGEST_WAIT = Duration.ofMillis(250);

  /// The same for messages that were sent away before: they come back in bursts, as often as
  /// `later` is read.
  Duration LONGEST_WAIT_AGAIN = Duration.ofMillis(500);

  /// The schedule's answer.
  sealed interface Answer {
    /// @param startsIn when the first leaves; negative = it could have left before
    /// @param gapNanos from one to the next
    /// @param outlook for messages that find no place
    record Places(Duration startsIn, int messages, long gapNanos, Outlook outlook)
        implements Answer {}

    /// Ask again after so long.
    record None(Duration delay) implements Answer {}
  }

  /// For how many messages a second the asking worker will have a place: its part of the rate,
  /// which climbs.
  ///
  /// @param now messages a second
  /// @param most the rate's end
  /// @param gain by how many messages a second it grows each second
  record Outlook(double now, double most, double gain) {
    /// Nanoseconds between two messages so many seconds from now.
    long gapNanos(double seconds) {
      return (long) (1e9 / Math.min(most, now + gain * Math.max(0, seconds)));
    }
  }

  /// Takes places for so many messages.
  ///
  /// @param longestWait until the first; if the wait would be longer, there is no place
  Answer take(Priority priority, int messages, Duration longestWait);

  /// Google said that the project has sent too much, and for how long it should rest.
  void refused(Duration rest);
}
