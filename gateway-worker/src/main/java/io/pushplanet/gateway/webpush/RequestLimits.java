package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.PriorityBulkhead;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/// Limits the requests under way at each push service, and at all of them together. A `high`
/// request never waits behind a `normal` one. Requests wait here and not for a connection, where it
/// would look as if the service had not answered. Thread-safe; calls block.
final class RequestLimits {
  private final PriorityBulkhead everywhere;
  private final int perOrigin;
  private final Duration atMost;

  /// Push services without requests are forgotten: a new bulkhead is as good.
  private final Cache<String, PriorityBulkhead> origins =
      Caffeine.newBuilder().weakValues().build();

  /// @param connections the limit for all push services together
  /// @param perOrigin the limit for each
  /// @param atMost how long to wait for each of the two
  RequestLimits(int connections, int perOrigin, Duration atMost) {
    this.everywhere = new PriorityBulkhead(connections);
    this.perOrigin = perOrigin;
    this.atMost = atMost;
  }

  /// @return empty when there was no room in time
  <T> Optional<T> take(String origin, Priority priority, Supplier<T> request) {
    // First at the one push service: if it is slow, it must not hold up requests to others.
    PriorityBulkhead here = origins.get(origin, _ -> new PriorityBulkhead(perOrigin));
    return through(
        here, priority, () -> through(everywhere, priority, () -> Optional.of(request.get())));
  }

  private <T> Optional<T> through(
      PriorityBulkhead bulkhead, Priority priority, Supplier<Optional<T>> then) {
    try {
      if (!bulkhead.acquire(priority, atMost)) {
        return Optional.empty();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
    try {
      return then.get();
    } finally {
      bulkhead.release();
    }
  }
}
