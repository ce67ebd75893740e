package io.pushplanet.gateway.fanout;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/// Looks how far ahead an app's messages wait in `later` for a vendor's quota. Each is due when the
/// quota will have reached it, so a broadcast whose next messages would be due after [#AHEAD] gains
/// nothing by being expanded further: each device would only be a row in MySQL, written, found and
/// deleted. When MySQL does not answer, no quota is full, as with [LaneDepths].
///
/// Thread-safe; blocks for one look into an index, once a second for each quota.
final class QuotaQueues {
  /// Long enough for the next step to be done meanwhile, so that no quota is left unused.
  static final Duration AHEAD = Duration.ofSeconds(10);

  private static final Logger LOG = LoggerFactory.getLogger(QuotaQueues.class);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final LaterStore later;
  private final Clock clock;
  private final Cache<Passage.Quota, Boolean> full =
      Caffeine.newBuilder().expireAfterWrite(LOOK_EVERY).build();

  QuotaQueues(LaterStore later, Clock clock) {
    this.later = later;
    this.clock = clock;
  }

  boolean isFull(Passage.Quota quota) {
    if (full.getIfPresent(quota) != null) {
      return true;
    }
    try {
      Optional<Instant> last = later.lastDue(quota.app(), quota.lane(), PutOff.PROJECT_QUOTA);
      boolean now = last.isPresent() && last.get().isAfter(clock.instant().plus(AHEAD));
      if (now) {
        full.put(quota, true);
      }
      return now;
    } catch (DataAccessException e) {
      LOG.debug("event=quota_queue_unknown reason=\"{}\"", e.toString());
      return false;
    }
  }
}
