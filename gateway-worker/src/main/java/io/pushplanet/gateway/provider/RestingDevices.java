package io.pushplanet.gateway.provider;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Devices to which a provider wants less to be sent. Their messages wait, without a request, for
/// as long as the provider asked, or else for a time that doubles with each refusal in a row.
///
/// Each worker keeps its own: a shared table would cost a look into Redis for each of the many
/// messages whose device does not rest. So, at worst, each worker is refused once per rest.
/// Thread-safe.
public final class RestingDevices {
  /// What was done about a refusal, for the timeline.
  public static final String RESTS = "device rests";

  /// No single answer holds messages up for longer than this, whatever it asks for.
  static final Duration LONGEST_REST = Duration.ofMinutes(15);

  /// A few hundred bytes each. The least recently used device is forgotten, and refused again if
  /// need be.
  private static final int MAX_DEVICES = 50_000;

  private final Clock clock;
  private final Duration firstRest;
  private final Cache<String, Rest> resting;

  private record Rest(int inARow, Instant until) {}

  /// @param clock one that is never set back, or rests would be longer by as much
  /// @param firstRest the rest when the provider asks for none
  public RestingDevices(Clock clock, Duration firstRest) {
    this.clock = clock;
    this.firstRest = firstRest;
    this.resting =
        Caffeine.newBuilder()
            .maximumSize(MAX_DEVICES)
            .expireAfterWrite(LONGEST_REST.multipliedBy(2))
            .build();
  }

  /// How long a device still rests; empty when messages may be sent to it.
  ///
  /// @param token by which the provider knows the device
  public Optional<Duration> rest(String token) {
    Rest rest = resting.getIfPresent(token);
    Instant now = clock.instant();
    return rest != null && rest.until().isAfter(now)
        ? Optional.of(Duration.between(now, rest.until()))
        : Optional.empty();
  }

  /// @param asked the rest that the provider asks for; null when it asks for none
  /// @return how long the device rests from now
  public Duration refused(String token, @Nullable Duration asked) {
    Instant now = clock.instant();
    Rest rest =
        resting
            .asMap()
            .compute(
                token,
                (_, before) -> {
                  // Answers to requests that were under way together count as one refusal.
                  boolean together = before != null && before.until().isAfter(now);
                  int inARow = before == null ? 1 : before.inARow() + (together ? 0 : 1);
                  Instant until = now.plus(bounded(asked == null ? own(inARow) : asked));
                  return new Rest(
                      inARow, together && before.until().isAfter(until) ? before.until() : until);
                });
    return Duration.between(now, rest.until());
  }

  /// The provider accepted a message for the device.
  public void taken(String token) {
    if (resting.getIfPresent(token) != null && rest(token).isEmpty()) {
      resting.invalidate(token);
    }
  }

  private Duration own(int inARow) {
    return firstRest.multipliedBy(1L << Math.min(inARow - 1, 10));
  }

  private static Duration bounded(Duration rest) {
    return rest.compareTo(LONGEST_REST) > 0 ? LONGEST_REST : rest;
  }
}
