package io.pushplanet.load.measure;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.client.HttpAnswer;
import io.pushplanet.load.client.HttpConnection;
import io.pushplanet.load.fleet.Arrivals;
import io.pushplanet.load.scenario.Target;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// From a device's acknowledgement until the API tells of it: what somebody waits for who asks why
/// a device did not get a message. A few of the arrivals are followed, one after the other by each
/// looker. Thread-safe.
public final class Timelines implements Arrivals, AutoCloseable {
  private static final int LOOKERS = 4;
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final Target target;

  /// What comes while all are looking is not followed.
  private final BlockingQueue<Arrival> next = new ArrayBlockingQueue<>(1);

  private final Histogram micros = new ConcurrentHistogram(1, LONGEST.toNanos() / 500, 3);
  private final LongAdder untold = new LongAdder();
  private final List<Thread> lookers = new ArrayList<>();

  private record Arrival(DeviceId device, String messageId, long nanos) {}

  public Timelines(Target target) {
    this.target = target;
    for (int i = 0; i < LOOKERS; i++) {
      lookers.add(Thread.ofVirtual().start(this::follow));
    }
  }

  @Override
  public void arrived(DeviceId device, String messageId, long nanos) {
    next.offer(new Arrival(device, messageId, nanos));
  }

  /// Microseconds, late by the pause between two looks.
  public Histogram micros() {
    return micros;
  }

  /// Those that the API did not tell of within half a minute.
  public long untold() {
    return untold.sum();
  }

  private void follow() {
    try (HttpConnection api = new HttpConnection(target.dispatcherUrl(), LONGEST)) {
      while (true) {
        Arrival arrival = next.take();
        if (isTold(api, arrival)) {
          micros.recordValue(Math.max(1, (System.nanoTime() - arrival.nanos()) / 1_000));
        } else {
          untold.increment();
        }
      }
    } catch (InterruptedException e) {
      // Closed.
    }
  }

  private boolean isTold(HttpConnection api, Arrival arrival) throws InterruptedException {
    String path =
        "/v1/apps/"
            + target.app()
            + "/messages/"
            + arrival.messageId()
            + "/deliveries?device="
            + arrival.device();
    byte[] request =
        HttpConnection.request(
            "GET", target.dispatcherUrl(), path, target.apiKey().reveal(), new byte[0]);
    while (System.nanoTime() - arrival.nanos() < LONGEST.toNanos()) {
      try {
        if (hasAttempt(api.exchange(request))) {
          return true;
        }
      } catch (IOException e) {
        // Asked again on another connection.
      }
      TimeUnit.NANOSECONDS.sleep(LOOK_EVERY.toNanos());
    }
    return false;
  }

  private static boolean hasAttempt(HttpAnswer answer) {
    if (answer.status() != 200) {
      return false;
    }
    JsonNode deliveries = JsonMapper.shared().readTree(answer.body()).path("data");
    return deliveries.path(0).path("attempts").size() > 0;
  }

  /// Those that are followed just now are left.
  @Override
  public void close() {
    lookers.forEach(Thread::interrupt);
  }
}
