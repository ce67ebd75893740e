package io.pushplanet.gateway.token;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Stops the forgetting of tokens of one app at one provider when too many die at once: a swapped key or a wrong environment
/// makes every token look dead, and a wrong purge is worse than a late one. Open for [#OPEN] after more than
/// [#MOST_DEAD_PERCENT] of at least [#FEWEST_SENDS] answers within a minute. Thread-safe.
public final class PurgeBreaker {
  static final int FEWEST_SENDS = 200;
  static final int MOST_DEAD_PERCENT = 5;
  static final Duration WINDOW = Duration.ofMinutes(1);
  static final Duration OPEN = Duration.ofMinutes(10);

  private final Clock clock;
  private final Map<Key, Window> windows = new ConcurrentHashMap<>();

  private record Key(AppId app, Channel channel) {}

  private record Window(Instant from, int sends, int dead, Instant openUntil) {}

  public PurgeBreaker(Clock clock) {
    this.clock = clock;
  }

  /// Counts an answer.
  ///
  /// @return whether nothing may be forgotten now
  public boolean count(AppId app, Channel channel, boolean dead) {
    Instant now = clock.instant();
    Window after =
        windows.compute(
            new Key(app, channel),
            (key, before) -> {
              Window window =
                  before == null || before.from().plus(WINDOW).isBefore(now)
                      ? new Window(now, 0, 0, before == null ? Instant.EPOCH : before.openUntil())
                      : before;
              int sends = window.sends() + 1;
              int died = window.dead() + (dead ? 1 : 0);
              boolean opens = sends >= FEWEST_SENDS && died * 100 > sends * MOST_DEAD_PERCENT;
              return new Window(
                  window.from(), sends, died, opens ? now.plus(OPEN) : window.openUntil());
            });
    return after.openUntil().isAfter(now);
  }
}
