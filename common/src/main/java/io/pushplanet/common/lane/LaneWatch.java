package io.pushplanet.common.lane;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends every wait of a lane in bounded time, also while the sender hangs in a write because the
/// broker does not read. A broker that keeps one item waiting too long keeps all of them waiting,
/// so the link is dropped. A blocked link is kept: each new link would take in some items before
/// the broker blocks it too, and all of those items would arrive once the broker reads again.
/// Confined to its thread.
final class LaneWatch {
  private static final Logger LOG = LoggerFactory.getLogger(LaneWatch.class);
  private static final Duration LOOK = Duration.ofMillis(250);

  private final String lane;
  private final LanePublisher.Settings settings;
  private final LaneItems items;
  private final AtomicReference<@Nullable LaneLink> link;
  private final BiConsumer<LaneLink, String> drop;

  /// @param link the lane's present one, if any
  /// @param drop ends a link, for a reason
  LaneWatch(
      String lane,
      LanePublisher.Settings settings,
      LaneItems items,
      AtomicReference<@Nullable LaneLink> link,
      BiConsumer<LaneLink, String> drop) {
    this.lane = lane;
    this.settings = settings;
    this.items = items;
    this.link = link;
    this.drop = drop;
  }

  /// Returns when the lane is closed.
  void run(CountDownLatch closed) {
    try {
      while (!closed.await(LOOK.toMillis(), TimeUnit.MILLISECONDS)) {
        LaneLink live = link.get();
        if (live == null) {
          items.failWaiting(LanePublisher.AWAY);
          continue;
        }
        try {
          look(live);
        } catch (Throwable e) {
          // Errors as well: without this thread no wait would end.
          LOG.error("event=lane_watch_failed publisher={}", lane, e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void look(LaneLink live) {
    Long blockedSince = live.blockedSinceNanos();
    Duration within = blockedSince == null ? settings.confirmWithin() : settings.blockedWithin();
    long latest = System.nanoTime() - within.toNanos();
    if (blockedSince != null && blockedSince - latest > 0) {
      // The broker may have been slow before it reported the block: the wait starts at the report.
      return;
    }
    boolean stuck = live.isWritingSince(latest);
    boolean late = items.areWaitingSince(latest) || live.isUnconfirmedSince(latest);
    if (stuck || (late && blockedSince == null)) {
      drop.accept(live, "the broker did not confirm within " + within);
    } else if (late) {
      items.failWaiting(LanePublisher.BLOCKS);
      live.failUnconfirmed(LanePublisher.BLOCKS);
    }
  }
}
