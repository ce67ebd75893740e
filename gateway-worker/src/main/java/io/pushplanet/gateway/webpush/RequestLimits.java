package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.Turnstile;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// Whose turn it is: so many requests at each push service, and so many at all of them. What is high never waits behind what is
/// normal. Whoever waits, waits here and not for a connection, which looks as if the service had not answered. Thread-safe; calls block.
final class RequestLimits {
  private final Turnstile everywhere;
  private final int perOrigin;
  private final Duration atMost;

  /// Those at which nobody is or waits are forgotten: a new one is as good.
  private final Cache<String, Turnstile> origins = Caffeine.newBuilder().weakValues().build();

  /// @param connections as many as there are: to all push services together, and to each
  /// @param atMost for each of the two turns
  RequestLimits(int connections, int perOrigin, Duration atMost) {
    this.everywhere = new Turnstile(connections);
    this.perOrigin = perOrigin;
    this.atMost = atMost;
  }

  /// @return nothing where it was not its turn in time
  <T> Optional<T> take(String origin, Priority priority, Supplier<T> request) {
    // First at the one, whose slowness is to hold up nobody else's requests.
    Turnstile here = origins.get(origin, _ -> new Turnstile(perOrigin));
    return through(
        here, priority, () -> through(everywhere, priority, () -> Optional.of(request.get())));
  }

  private <T> Optional<T> through(
      Turnstile turnstile, Priority priority, Supplier<Optional<T>> then) {
    try {
      if (!turnstile.enter(priority, atMost)) {
        return Optional.empty();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
    try {
      return then.get();
    } finally {
      turnstile.leave();
    }
  }
}
