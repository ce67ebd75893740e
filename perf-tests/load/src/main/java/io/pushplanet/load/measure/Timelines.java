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

/// The time from a device's acknowledgement until the API shows it: how long an operator waits for
/// the reason of a missing message. Each of several threads follows one arrival at a time, so only
/// a few arrivals are followed. Thread-safe.
public final class Timelines implements Arrivals, AutoCloseable {
  private static final int LOOKERS = 4;
  private static final Duration LOOK_EVERY = Duration.ofMillis(20);
  private static final Duration LONGEST = Duration.ofSeconds(30);
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(30);
  private static final Duration ASKED_WHETHER_OVER_EVERY = Duration.ofMillis(100);

  private final Target target;
  private final Duration longest;

  /// Arrivals while all threads are busy are not followed.
  private final BlockingQueue<Arrival> next = new ArrayBlockingQueue<>(1);

  private final Histogram micros = new ConcurrentHistogram(1, LONGEST.toNanos() / 500, 3);
  private final LongAdder untold = new LongAdder();
  private final List<Thread> lookers = new ArrayList<>();
  private volatile boolean over;

  private record Arrival(DeviceId device, String messageId, long nanos) {}

  public Timelines(Target target) {
    this(target, LONGEST);
  }

  /// @param longest a delivery is followed for this time
  Timelines(Target target, Duration longest) {
    this.target = target;
    this.longest = longest;
    for (int i = 0; i < LOOKERS; i++) {
      lookers.add(Thread.ofVirtual().start(this::follow));
    }
  }

  @Override
  public void arrived(DeviceId device, String messageId, long nanos) {
    next.offer(new Arrival(device, messageId, nanos));
  }

  /// In microseconds, late by the pause between two requests.
  public Histogram micros() {
    return micros;
  }

  /// Deliveries that the API has not shown: within half a minute, or until [#finish] gave them up.
  public long untold() {
    return untold.sum();
  }

  private void follow() {
    try (HttpConnection api = new HttpConnection(target.dispatcherUrl(), ANSWERED_WITHIN)) {
      while (!over) {
        Arrival arrival = next.poll(ASKED_WHETHER_OVER_EVERY.toNanos(), TimeUnit.NANOSECONDS);
        if (arrival != null) {
          untold.increment();
          if (isTold(api, arrival)) {
            micros.recordValue(Math.max(1, (System.nanoTime() - arrival.nanos()) / 1_000));
            untold.decrement();
          }
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
    while (System.nanoTime() - arrival.nanos() < longest.toNanos()) {
      try {
        if (hasAttempt(api.exchange(request))) {
          return true;
        }
      } catch (IOException e) {
        // The next request uses another connection.
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

  /// Follows no more arrivals, and waits for the current ones.
  public void finish() {
    over = true;
    try {
      for (Thread looker : lookers) {
        looker.join(ANSWERED_WITHIN.plus(longest));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  /// The current ones are abandoned.
  @Override
  public void close() {
    lookers.forEach(Thread::interrupt);
  }
}
