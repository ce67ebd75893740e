package io.pushplanet.dispatcher.denial;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.Denials;
import io.pushplanet.common.session.DeviceKey;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;

/// Deleted devices in MySQL. Redis has a copy, which nodes read for each CONNECT. Redis may have
/// missed a deletion (it was away, or a dispatcher was killed), or may have forgotten one (it was
/// restarted, replaced or emptied). Any dispatcher then tells it again within some seconds;
/// thousands of devices take longer. Thread-safe.
@Component
public class DeniedDevices implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(DeniedDevices.class);
  private static final Duration ROUND = Duration.ofSeconds(1);
  private static final int AT_ONCE = 100;

  private final DenialMapper mapper;
  private final RedisLink redis;
  private final Denials denials;
  private final Clock clock;
  private final Counter failed;
  private final CountDownLatch closed = new CountDownLatch(1);
  // Only the thread that tells Redis uses it.
  private boolean waits;

  DeniedDevices(
      DenialMapper mapper, RedisLink redis, Denials denials, Clock clock, MeterRegistry meters) {
    this.mapper = mapper;
    this.redis = redis;
    this.denials = denials;
    this.clock = clock;
    this.failed = meters.counter("pushplanet.denials.rounds.failed");
    Thread.ofVirtual().name("denied-devices").start(this::run);
  }

  /// When the last denied password of the device expires; null when the device was never deleted,
  /// or long ago.
  public @Nullable Instant until(DeviceKey device) {
    return mapper.ends(device.app().value(), device.device().value());
  }

  /// Denies the passwords of a deleted device that expire at this moment (to the second) or sooner.
  /// Call it in the transaction that deletes the device, and [#tell] after the commit.
  public void deny(DeviceKey device, Instant ends) {
    mapper.deny(device.app().value(), device.device().value(), ends);
  }

  /// Tells Redis at once, which ends the session of the device. When this fails, the next round
  /// tells Redis.
  public void tell(DeviceKey device, Instant ends) {
    try {
      denials.deny(device, ends.getEpochSecond());
    } catch (RedisUnavailable e) {
      LOG.debug("event=denied_device_untold device={}", device);
    }
  }

  @Override
  public void close() {
    closed.countDown();
  }

  private void run() {
    try {
      while (!closed.await(ROUND.toMillis(), TimeUnit.MILLISECONDS)) {
        round();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  void round() {
    try {
      if (redis.connected()) {
        tellAll();
      }
      mapper.trim(clock.instant().minus(Denials.CLOCKS_DIFFER), AT_ONCE);
      waits = false;
    } catch (RedisUnavailable | DataAccessException | TransactionException e) {
      failed.increment();
      if (!waits) {
        LOG.warn(
            "event=denied_devices_wait reason=\"{}\"",
            NestedExceptionUtils.getMostSpecificCause(e).toString());
      }
      waits = true;
    } catch (RuntimeException | Error bug) {
      failed.increment();
      LOG.error("event=denied_devices_error", bug);
    }
  }

  private void tellAll() {
    String memory = denials.memory();
    int told = 0;
    List<DenialMapper.Denied> some;
    do {
      some = mapper.untold(memory, AT_ONCE);
      if (!some.isEmpty()) {
        some.forEach(this::tell);
        mapper.told(memory, some);
      }
      told += some.size();
    } while (some.size() == AT_ONCE && closed.getCount() > 0);
    if (told > AT_ONCE) {
      LOG.info("event=denied_devices_told devices={}", told);
    }
  }

  private void tell(DenialMapper.Denied denied) {
    DeviceKey device = new DeviceKey(new AppId(denied.appId()), new DeviceId(denied.deviceId()));
    long ends = denied.ends().getEpochSecond();
    if (denied.told() == null) {
      denials.deny(device, ends);
    } else {
      denials.remind(device, ends);
    }
  }
}
