package io.pushplanet.dispatcher.debt;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Devices whose data Redis has to forget, while Redis was away or refused. They are told to Redis
/// when it answers again; at most [#MAX] devices are kept. If the process is killed before, they
/// are lost. One log line says when this state begins, and one when it ends. Thread-safe.
public final class RedisDebts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RedisDebts.class);
  private static final int MAX = 100_000;
  private static final Duration ROUND = Duration.ofMillis(200);

  private final String what;
  private final int atOnce;
  private final Consumer<List<DeviceKey>> payment;
  private final Set<DeviceKey> owed = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean told = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);

  /// @param what Redis has to forget
  /// @param atOnce for how many devices at once
  /// @param payment tells Redis, and throws when Redis does not take it
  public RedisDebts(
      String what, int atOnce, Consumer<List<DeviceKey>> payment, MeterRegistry meters) {
    this.what = what;
    this.atOnce = atOnce;
    this.payment = payment;
    Gauge.builder("pushplanet.redis.owed", owed, Set::size)
        .description(
            "devices whose routes or MQTT sessions Redis still has to forget, because it was away or refused; the dispatcher tries again each 200 ms")
        .tag("what", what)
        .register(meters);
  }

  public void start() {
    Thread.ofVirtual().name("owed-" + what).start(this::run);
  }

  /// @param why Redis was not told
  public void owe(Collection<DeviceKey> devices, RedisUnavailable why) {
    if (owed.size() >= MAX) {
      DeviceKey first = devices.iterator().next();
      LOG.error(
          "event=redis_not_told what={} devices={} first={}/{}",
          what,
          devices.size(),
          first.app().value(),
          first.device().value());
      return;
    }
    owed.addAll(devices);
    if (told.compareAndSet(false, true)) {
      LOG.warn("event=redis_owed what={} reason=\"{}\"", what, why.getMessage());
    }
  }

  @Override
  public void close() {
    closed.countDown();
    if (!owed.isEmpty()) {
      LOG.error("event=redis_owed_at_stop what={} devices={}", what, owed.size());
    }
  }

  private void run() {
    try {
      while (!closed.await(ROUND.toMillis(), TimeUnit.MILLISECONDS)) {
        pay();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// Stops when Redis does not answer: with a Redis that hangs, each call would take its whole
  /// deadline.
  void pay() {
    int devices = 0;
    var left = owed.iterator();
    while (left.hasNext() && closed.getCount() > 0) {
      var some = next(left);
      if (!paid(some)) {
        return;
      }
      devices += some.size();
    }
    if (owed.isEmpty() && told.compareAndSet(true, false)) {
      LOG.info("event=redis_owed_no_more what={} devices={}", what, devices);
    }
  }

  private List<DeviceKey> next(Iterator<DeviceKey> left) {
    var some = new ArrayList<DeviceKey>(atOnce);
    while (some.size() < atOnce && left.hasNext()) {
      some.add(left.next());
    }
    return some;
  }

  private boolean paid(List<DeviceKey> some) {
    // Removed before the call, so that a device that is owed again during the call stays.
    some.forEach(owed::remove);
    try {
      payment.accept(some);
      return true;
    } catch (RedisUnavailable away) {
      owed.addAll(some);
    } catch (RuntimeException | Error bug) {
      owed.addAll(some);
      LOG.error("event=redis_owed_error what={} devices={}", what, owed.size(), bug);
    }
    return false;
  }
}
