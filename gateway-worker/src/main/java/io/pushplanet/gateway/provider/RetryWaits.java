package io.pushplanet.gateway.provider;

import io.pushplanet.gateway.connection.Reply.Answered;
import java.time.Clock;
import java.time.Duration;
import java.util.Optional;
import java.util.random.RandomGenerator;

/// How long a message waits after an answer. Thread-safe when its randomness is.
public record RetryWaits(Clock clock, RandomGenerator random) {
  /// The longest wait that an answer without the vendor's own form may ask for.
  static final Duration LONGEST_OF_ANYBODY = Duration.ofMinutes(15);

  /// The wait that the answer asks for. It is bounded when the body is not in the vendor's form:
  /// the page of a proxy could let messages expire. A wait of zero counts as none: the message
  /// would come back at once, until its time to live ends.
  ///
  /// @param word the vendor's own in the body; empty when there is none
  public Optional<Duration> asked(Answered answered, String word) {
    Optional<Duration> asked = asked(answered);
    return word.isEmpty()
        ? asked.map(it -> it.compareTo(LONGEST_OF_ANYBODY) > 0 ? LONGEST_OF_ANYBODY : it)
        : asked;
  }

  private Optional<Duration> asked(Answered answered) {
    return answered
        .header("retry-after")
        .flatMap(value -> RetryAfter.parse(value, clock.instant()))
        .filter(Duration::isPositive);
  }

  /// The wait that the answer asks for, or else `rest` up to twice over.
  ///
  /// @param word as of [#asked(Answered, String)]
  public Duration askedOr(Answered answered, String word, Duration rest) {
    return asked(answered, word).orElseGet(() -> jittered(rest));
  }

  public Duration jittered(Duration rest) {
    return rest.plusMillis(random.nextLong(rest.toMillis()));
  }
}
