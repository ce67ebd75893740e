package io.pushplanet.load.scenario;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.client.AcceptedJournal;
import io.pushplanet.load.client.SendOutcome;
import io.pushplanet.load.client.Sender;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/// Many clients that send unicast messages, device after device, each with one connection and one
/// request at a time. A refused request is reported and not repeated; its client pauses a little,
/// then sends another message.
///
/// One instance is one run of traffic. Thread-safe.
public final class Traffic {
  private static final Duration ANSWER_WITHIN = Duration.ofSeconds(20);
  private static final Duration ENDED_WITHIN = Duration.ofSeconds(60);
  private static final long PAUSE_NANOS = Duration.ofMillis(100).toNanos();

  private final Target target;
  private final AcceptedJournal journal;
  private final String run;
  private volatile List<DeviceId> devices;
  private final String delivery;
  private final Observer observer;
  private final AtomicLong sent = new AtomicLong();
  private final ConcurrentHashMap<String, LongAdder> refusals = new ConcurrentHashMap<>();

  /// Receives the outcome of every request.
  @FunctionalInterface
  public interface Observer {
    void answered(SendOutcome outcome, long sentNanos, long answeredNanos);
  }

  /// Lets a client send its next message.
  @FunctionalInterface
  public interface Gate {
    /// May wait, but not for ever.
    ///
    /// @return whether to continue; false ends the client
    boolean next() throws InterruptedException;

    /// This rate, evenly, until the end.
    static Gate paced(double perSecond, long endNanos) {
      AtomicLong slot = new AtomicLong();
      long start = System.nanoTime();
      return () -> {
        long due = start + (long) (slot.getAndIncrement() * 1e9 / perSecond);
        if (due - endNanos >= 0) {
          return false;
        }
        TimeUnit.NANOSECONDS.sleep(Math.max(0, due - System.nanoTime()));
        return true;
      };
    }

    /// As fast as possible, until the end.
    static Gate until(long endNanos) {
      return () -> System.nanoTime() - endNanos < 0;
    }
  }

  /// @param run the prefix of every message's reference
  /// @param delivery the JSON of `delivery`
  public Traffic(
      Target target,
      AcceptedJournal journal,
      String run,
      List<DeviceId> devices,
      String delivery,
      Observer observer) {
    this.target = target;
    this.journal = journal;
    this.run = run;
    this.devices = List.copyOf(devices);
    this.delivery = delivery;
    this.observer = observer;
  }

  /// The next messages go only to these devices.
  public void aim(List<DeviceId> some) {
    devices = List.copyOf(some);
  }

  /// Runs `clients` until the gate ends them all.
  public void run(int clients, Gate gate) {
    try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < clients; i++) {
        executor.execute(() -> client(gate));
      }
    }
  }

  /// Runs `clients` on a thread of its own, evenly at this rate, until it is closed or the time is
  /// over.
  public Running runBeside(int clients, double perSecond, Duration atMost) {
    AtomicBoolean over = new AtomicBoolean();
    Gate paced = Gate.paced(perSecond, System.nanoTime() + atMost.toNanos());
    Thread senders =
        Thread.ofPlatform().start(() -> run(clients, () -> !over.get() && paced.next()));
    return new Running(over, senders);
  }

  /// Background traffic.
  public static final class Running implements AutoCloseable {
    private final AtomicBoolean over;
    private final Thread senders;

    private Running(AtomicBoolean over, Thread senders) {
      this.over = over;
      this.senders = senders;
    }

    /// Stops the traffic. Returns once the last request is answered.
    @Override
    public void close() {
      over.set(true);
      try {
        if (!senders.join(ENDED_WITHIN)) {
          throw new IllegalStateException("the senders did not end within " + ENDED_WITHIN);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted", e);
      }
    }
  }

  /// The refusals by their answers, and how often.
  public Map<String, Long> refusals() {
    var counts = new TreeMap<String, Long>();
    refusals.forEach((why, count) -> counts.put(why, count.sum()));
    return counts;
  }

  private void client(Gate gate) {
    try (Sender sender =
        new Sender(target.dispatcherUrl(), target.app(), target.apiKey(), journal, ANSWER_WITHIN)) {
      while (gate.next()) {
        send(sender);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(Sender sender) {
    long number = sent.getAndIncrement();
    List<DeviceId> now = devices;
    DeviceId device = now.get((int) (number % now.size()));
    long start = System.nanoTime();
    SendOutcome outcome = sender.send(device, run + "-" + number, delivery);
    observer.answered(outcome, start, System.nanoTime());
    switch (outcome) {
      case SendOutcome.Accepted _ -> {}
      case SendOutcome.Refused refused -> pauseAfter("status " + refused.status());
      case SendOutcome.Unanswered unanswered -> pauseAfter(unanswered.why());
    }
  }

  private void pauseAfter(String why) {
    refusals.computeIfAbsent(why, _ -> new LongAdder()).increment();
    LockSupport.parkNanos(PAUSE_NANOS / 2 + ThreadLocalRandom.current().nextLong(PAUSE_NANOS));
  }
}
