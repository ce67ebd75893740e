package io.pushplanet.gateway.provider;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Devices to which a provider wants less to be sent, or apps. Their messages wait, without a
/// request, for as long as the provider asked, or else for a time that doubles with each refusal in
/// a row.
///
/// Each worker keeps its own: a shared table would cost a look into Redis for each of the many
/// messages whose device does not rest. So, at worst, each worker is refused once per rest.
/// Thread-safe.
public final class Rests {
  /// What was done about a refusal of a device's message, for the timeline.
  public static final String DEVICE_RESTS = "device rests";

  /// No single answer holds messages up for longer than this, whatever it asks for: if the provider
  /// means it, it refuses again.
  static final Duration LONGEST_ASKED = Duration.ofMinutes(15);

  /// A few hundred bytes each. The least recently used device is forgotten, and refused again if
  /// need be.
  private static final int MAX_DEVICES = 50_000;

  private final Clock clock;
  private final Duration first;
  private final Duration longest;
  private final Cache<String, Rest> resting;

  private record Rest(int inARow, Instant until) {}

  /// @param clock one that is never set back, or rests would be longer by as much
  /// @param first the rest when the provider asks for none
  /// @param longest the longest rest when the provider asks for none
  /// @param max how many may rest at a time
  public Rests(Clock clock, Duration first, Duration longest, int max) {
    this.clock = clock;
    this.first = first;
    this.longest = longest;
    this.resting =
        Caffeine.newBuilder()
            .maximumSize(max)
            .expireAfterWrite(LONGEST_ASKED.multipliedBy(2))
            .build();
  }

  public static Rests ofDevices(Clock clock, Duration first) {
    return new Rests(clock, first, LONGEST_ASKED, MAX_DEVICES);
  }

  /// How long a device still rests; empty when messages may be sent to it.
  ///
  /// @param device as the provider knows it
  public Optional<Duration> rest(String device) {
    Rest rest = resting.getIfPresent(device);
    Instant now = clock.instant();
    return rest != null && rest.until().isAfter(now)
        ? Optional.of(Duration.between(now, rest.until()))
        : Optional.empty();
  }

  /// @param asked the rest that the provider asks for; null when it asks for none
  /// @return how long the device rests from now
  public Duration refused(String device, @Nullable Duration asked) {
    Instant now = clock.instant();
    Rest rest =
        resting
            .asMap()
            .compute(
                device,
                (_, before) -> {
                  // Answers to requests that were under way together count as one refusal.
                  boolean together = before != null && before.until().isAfter(now);
                  int inARow = before == null ? 1 : before.inARow() + (together ? 0 : 1);
                  Instant until = now.plus(asked == null ? own(inARow) : bounded(asked));
                  return new Rest(
                      inARow, together && before.until().isAfter(until) ? before.until() : until);
                });
    return rest.until().isAfter(now) ? Duration.between(now, rest.until()) : Duration.ZERO;
  }

  /// The provider accepted a message for the device.
  public void taken(String device) {
    if (resting.getIfPresent(device) != null && rest(device).isEmpty()) {
      resting.invalidate(device);
    }
  }

  private Duration own(int inARow) {
    Duration rest = first.multipliedBy(1L << Math.min(inARow - 1, 10));
    return rest.compareTo(longest) > 0 ? longest : rest;
  }

  private static Duration bounded(Duration asked) {
    return asked.compareTo(LONGEST_ASKED) > 0 ? LONGEST_ASKED : asked;
  }
}
