package io.pushplanet.gateway.fanout;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.message.Push;
import io.pushplanet.gateway.fcm.FcmQuota;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.provider.DeliveryOutcome.PutOff;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/// Tells which apps' messages would find no room in their vendor's quota: each device would only be
/// a row in `later`, written, found and deleted. A quota is full for a while after a step, about as
/// long as that step's messages take if no other app shares it. Then it is full while the last of
/// the app's messages that wait in `later` for it is due after [#AHEAD]: each is due when the quota
/// will have reached it. When MySQL does not answer, no quota is full, as with [LaneDepths].
///
/// No step is larger than what the quota takes in a second, and that is little at first, because
/// the rate climbs: most messages of a larger step would be put off.
///
/// Thread-safe; blocks for one look into an index, at most once a second for a full quota.
final class QuotaQueues {
  /// Long enough for the next step to be done meanwhile, so that no quota is left unused.
  static final Duration AHEAD = Duration.ofSeconds(4);

  /// Steps go faster than the quota, so that they catch up after a delay.
  private static final double SOONER = 1.25;

  private static final Logger LOG = LoggerFactory.getLogger(QuotaQueues.class);
  private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

  private final LaterStore later;
  private final FcmQuota quota;
  private final Clock clock;
  private final LongSupplier nanoTime;

  /// Until when quotas are full that nobody needs to look at.
  private final Cache<Passage.Quota, Long> fullUntilNanos =
      Caffeine.newBuilder().expireAfterWrite(Turns.PATIENCE).build();

  /// When apps began to send, or began again after a pause in which the rate came down.
  private final Cache<Passage.Quota, Long> beganNanos;

  /// @param nanoTime as [System#nanoTime]
  QuotaQueues(LaterStore later, FcmQuota quota, Clock clock, LongSupplier nanoTime) {
    this.later = later;
    this.quota = quota;
    this.clock = clock;
    this.nanoTime = nanoTime;
    this.beganNanos =
        Caffeine.newBuilder().ticker(nanoTime::getAsLong).expireAfterAccess(FcmQuota.PAUSE).build();
  }

  /// To how many recipients a step brings messages at most.
  int most(Passage.Quota passage) {
    long now = nanoTime.getAsLong();
    Duration climbed = Duration.ofNanos(now - beganNanos.get(passage, _ -> now));
    return Math.max(Push.MAX_RECIPIENTS, (int) quota.perSecond(climbed));
  }

  /// A step brought messages to so many recipients.
  void filled(Passage.Quota passage, int recipients) {
    double perSecond = SOONER * quota.messagesPerMinute() / 60;
    fullFor(passage, (long) (recipients / perSecond * 1e9));
  }

  boolean isFull(Passage.Quota passage) {
    Long untilNanos = fullUntilNanos.getIfPresent(passage);
    if (untilNanos != null && nanoTime.getAsLong() - untilNanos < 0) {
      return true;
    }
    Instant last = lastDue(passage);
    boolean full = last != null && last.isAfter(clock.instant().plus(AHEAD));
    if (full) {
      fullFor(passage, LOOK_EVERY.toNanos());
    }
    return full;
  }

  private @Nullable Instant lastDue(Passage.Quota passage) {
    try {
      return later.lastDue(passage.app(), passage.lane(), PutOff.PROJECT_QUOTA).orElse(null);
    } catch (DataAccessException e) {
      LOG.debug("event=quota_queue_unknown reason=\"{}\"", e.toString());
      return null;
    }
  }

  /// From now on, or from when it is no longer full.
  private void fullFor(Passage.Quota passage, long nanos) {
    long now = nanoTime.getAsLong();
    fullUntilNanos
        .asMap()
        .merge(passage, now + nanos, (until, _) -> now + Math.max(0, until - now) + nanos);
  }
}
