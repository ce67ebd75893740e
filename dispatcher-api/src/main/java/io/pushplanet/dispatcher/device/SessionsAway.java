package io.pushplanet.dispatcher.device;

import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.Script;
import io.pushplanet.common.session.SessionDirectory;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// MQTT sessions that outlive their connections: a node has what was sent on them and not acknowledged, and would send it again, to whoever
/// has the device by then. What cannot be done at once is done soon; a process that is killed before does not do it. Thread-safe.
@Component
class SessionsAway implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionsAway.class);
  private static final int MOST_OWED = 100_000;
  private static final Duration ROUND = Duration.ofMillis(500);

  /// Nodes tell of a connection's end some moments later.
  private static final Duration TOLD_WITHIN = Duration.ofSeconds(10);

  /// ARGV the device. Without what is remembered of it a session is none ("session present = 0"), and what it had unacknowledged is dropped.
  /// Answers with a text where the device is connected.
  private static final Script FORGET =
      Script.of(
          SessionDirectory.FUNCTIONS
              + """
              local owner = text('session:' .. ARGV[1])
              if owner then return {owner} end
              redis.call('DEL', 'mqtt-session:' .. ARGV[1])
              return {}
              """);

  private static final String[] NO_KEYS = {};

  private final RedisLink redis;
  private final Clock clock;
  // Until when a device counts as one whose end of connection is on its way.
  private final Map<DeviceKey, Instant> owed = new ConcurrentHashMap<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  SessionsAway(RedisLink redis, Clock clock) {
    this.redis = redis;
    this.clock = clock;
    Thread.ofVirtual().name("sessions-away").start(this::run);
  }

  /// The device begins anew when it comes next. One that stays connected goes on.
  void forget(DeviceKey device) {
    if (owed.size() >= MOST_OWED) {
      LOG.error(
          "event=session_not_forgotten app={} device={}",
          device.app().value(),
          device.device().value());
    } else if (!isForgotten(device)) {
      owed.put(device, clock.instant().plus(TOLD_WITHIN));
    }
  }

  private boolean isForgotten(DeviceKey device) {
    try {
      return redis
          .run(FORGET, NO_KEYS, device.app().value() + "/" + device.device().value())
          .isEmpty();
    } catch (DirectoryUnavailable e) {
      return false;
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private void run() {
    try {
      while (!closed.await(ROUND.toMillis(), TimeUnit.MILLISECONDS)) {
        if (redis.connected()) {
          List.copyOf(owed.entrySet()).forEach(this::again);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void again(Map.Entry<DeviceKey, Instant> debt) {
    if (isForgotten(debt.getKey())
        || (redis.connected() && clock.instant().isAfter(debt.getValue()))) {
      owed.remove(debt.getKey(), debt.getValue());
    }
  }
}
