package io.pushplanet.dispatcher.device;

import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.Handovers;
import io.pushplanet.common.session.RedisLink;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// MQTT sessions that are over because their device has another user. A node has what was sent on them and not acknowledged, and what it has read of the inbox, and would bring it
/// to whoever has the device by then. What cannot be forgotten at once is forgotten when Redis is back, of at most [#MOST_OWED] devices; a
/// process that is killed before does not do it. Thread-safe.
@Component
class RememberedSessions implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RememberedSessions.class);
  private static final int MOST_OWED = 100_000;
  private static final Duration ROUND = Duration.ofMillis(500);

  private final Handovers handovers;
  private final Set<DeviceKey> owed = ConcurrentHashMap.newKeySet();
  private final CountDownLatch closed = new CountDownLatch(1);

  RememberedSessions(RedisLink redis) {
    this.handovers = new Handovers(redis);
    Thread.ofVirtual().name("owed-sessions").start(this::run);
  }

  /// The device begins anew ([Handovers#handOver]): what it had unacknowledged is dropped, and comes from the inbox where it still
  /// may have it.
  void forget(DeviceKey device) {
    try {
      handovers.handOver(device);
    } catch (DirectoryUnavailable away) {
      if (owed.size() < MOST_OWED) {
        owed.add(device);
      } else {
        LOG.error(
            "event=session_not_forgotten app={} device={}",
            device.app().value(),
            device.device().value());
      }
    }
  }

  @Override
  public void close() {
    closed.countDown();
    if (!owed.isEmpty()) {
      LOG.error("event=sessions_owed_at_stop devices={}", owed.size());
    }
  }

  private void run() {
    try {
      while (!closed.await(ROUND.toMillis(), TimeUnit.MILLISECONDS)) {
        payDebts();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// As long as Redis answers: with one that hangs each would take its deadline.
  private void payDebts() {
    for (DeviceKey device : owed) {
      // First: what is owed anew meanwhile stays.
      owed.remove(device);
      try {
        handovers.handOver(device);
      } catch (DirectoryUnavailable away) {
        owed.add(device);
        return;
      } catch (RuntimeException bug) {
        owed.add(device);
        LOG.error("event=owed_sessions_error devices={}", owed.size(), bug);
        return;
      }
      if (closed.getCount() == 0) {
        return;
      }
    }
  }
}
