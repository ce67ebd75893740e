package io.pushplanet.gateway.delivery;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The meters of deliveries. Thread-safe.
///
/// - `pushplanet.queue.wait` by lane: from a message's `accepted_at` until a worker takes it up, on
///   its first way only. The wait includes a fan-out; a retry or a fallback is not measured again.
/// - `pushplanet.accept.to.outcome` by channel, priority and result: a message's whole way to one
///   device.
/// - `pushplanet.outcomes` counts the outcomes of parcels, `pushplanet.redelivered` parcels that
///   the broker handed out again.
/// - `pushplanet.delivery.overtaking` counts batches that did not keep their order,
///   `pushplanet.delivery.owed` recipients whose rows MySQL could not take.
final class DeliveryMetrics {
  /// Histograms do not distinguish longer times: a retry may take hours.
  private static final Duration LONGEST_TOLD_APART = Duration.ofMinutes(10);

  private final MeterRegistry meters;
  private final Map<String, Timer> waits = new ConcurrentHashMap<>();
  private final Map<End, Timer> ends = new ConcurrentHashMap<>();
  private final Map<Outcome, Counter> outcomes = new ConcurrentHashMap<>();
  private final Counter overtaking;
  private final Counter owed;

  private record End(String channel, Priority priority, String result) {}

  private record Outcome(String channel, String result) {}

  DeliveryMetrics(MeterRegistry meters) {
    this.meters = meters;
    this.overtaking =
        Counter.builder("pushplanet.delivery.overtaking")
            .description(
                "batches that left for devices' nodes before one that was ahead of them in their"
                    + " lane, because that hung")
            .register(meters);
    this.owed =
        Counter.builder("pushplanet.delivery.owed")
            .description(
                "recipients whose messages wait for MySQL in push.owed, because it could not take"
                    + " their rows when they were parked or put off")
            .register(meters);
  }

  void overtaking() {
    overtaking.increment();
  }

  void owed(int recipients) {
    owed.increment(recipients);
  }

  void takenUp(Channel channel, Push push, Instant at) {
    waits
        .computeIfAbsent(Topology.lane(channel, push.delivery().priority()), this::wait)
        .record(Duration.between(push.acceptedAt(), at));
  }

  void redelivered(Channel channel, int recipients) {
    Counter.builder("pushplanet.redelivered")
        .description(
            "recipients that the broker handed out again, because a worker ended before it had"
                + " acknowledged them")
        .tag("channel", channel.word())
        .register(meters)
        .increment(recipients);
  }

  private Timer wait(String lane) {
    return Timer.builder("pushplanet.queue.wait")
        .description("from accepted_at to the moment a worker takes the message up")
        .tag("lane", lane)
        .publishPercentileHistogram()
        .maximumExpectedValue(LONGEST_TOLD_APART)
        .register(meters);
  }

  void ended(Push push, @Nullable Channel channel, String result, Instant at) {
    ends.computeIfAbsent(new End(word(channel), push.delivery().priority(), result), this::wholeWay)
        .record(Duration.between(push.acceptedAt(), at));
    count(channel, result);
  }

  private Timer wholeWay(End end) {
    return Timer.builder("pushplanet.accept.to.outcome")
        .description(
            "from accepted_at to the outcome at one device; channel none if no channel was tried")
        .tag("channel", end.channel())
        .tag("priority", end.priority().name().toLowerCase(Locale.ROOT))
        .tag("result", end.result())
        .publishPercentileHistogram()
        .maximumExpectedValue(LONGEST_TOLD_APART)
        .register(meters);
  }

  void count(@Nullable Channel channel, String result) {
    outcomes.computeIfAbsent(new Outcome(word(channel), result), this::counter).increment();
  }

  private Counter counter(Outcome of) {
    return meters.counter("pushplanet.outcomes", "channel", of.channel(), "result", of.result());
  }

  private static String word(@Nullable Channel channel) {
    return channel == null ? "none" : channel.word();
  }
}
