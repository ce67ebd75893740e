package io.pushplanet.load.measure;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.load.client.SendOutcome;
import io.pushplanet.load.fleet.Arrivals;
import io.pushplanet.load.scenario.Traffic;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/// Measures each message from its request to its device's acknowledgement. Either end may be
/// reported first: a fast device acknowledges before the sender has read its 202. Thread-safe.
public final class Journey implements Traffic.Observer, Arrivals {
  private static final long LONGEST_MICROS = 600_000_000L;

  private final Map<String, Mark> open = new ConcurrentHashMap<>();
  private final Histogram sinceSent = new ConcurrentHistogram(1, LONGEST_MICROS, 3);
  private final Histogram sinceAccepted = new ConcurrentHistogram(1, LONGEST_MICROS, 3);
  private final Histogram accepts = new ConcurrentHistogram(1, LONGEST_MICROS, 3);
  private final LongAdder accepted = new LongAdder();
  private final LongAdder arrived = new LongAdder();
  private final Runnable whenArrived;
  private final Arrivals also;

  private sealed interface Mark {
    record Accepted(long sentNanos, long acceptedNanos) implements Mark {}

    record Arrived(long nanos) implements Mark {}

    /// Marks that both ends were seen, for repeats.
    record Closed() implements Mark {}
  }

  /// @param whenArrived run once for each message with both ends
  public Journey(Runnable whenArrived) {
    this(whenArrived, (device, messageId, nanos) -> {});
  }

  /// @param also receives every arrival
  public Journey(Runnable whenArrived, Arrivals also) {
    this.whenArrived = whenArrived;
    this.also = also;
  }

  @Override
  public void answered(SendOutcome outcome, long sentNanos, long answeredNanos) {
    if (outcome instanceof SendOutcome.Accepted(var id)) {
      accepted.increment();
      accepts.recordValue(micros(answeredNanos - sentNanos));
      Mark.Accepted mark = new Mark.Accepted(sentNanos, answeredNanos);
      open.merge(
          id.value(),
          mark,
          (known, _) -> {
            if (known instanceof Mark.Arrived(long nanos)) {
              close(mark, nanos);
              return new Mark.Closed();
            }
            return known;
          });
    } else {
      whenArrived.run();
    }
  }

  @Override
  public void arrived(DeviceId device, String messageId, long nanos) {
    also.arrived(device, messageId, nanos);
    open.merge(
        messageId,
        new Mark.Arrived(nanos),
        (known, _) -> {
          if (known instanceof Mark.Accepted mark) {
            close(mark, nanos);
            return new Mark.Closed();
          }
          return known;
        });
  }

  private void close(Mark.Accepted mark, long nanos) {
    sinceSent.recordValue(micros(nanos - mark.sentNanos()));
    sinceAccepted.recordValue(micros(nanos - mark.acceptedNanos()));
    arrived.increment();
    whenArrived.run();
  }

  public long accepted() {
    return accepted.sum();
  }

  public long arrived() {
    return arrived.sum();
  }

  /// Request to 202, microseconds.
  public Histogram accepts() {
    return accepts;
  }

  /// Request to acknowledgement, microseconds.
  public Histogram sinceSent() {
    return sinceSent;
  }

  /// 202 to acknowledgement, microseconds; 1 where the device was faster than the answer.
  public Histogram sinceAccepted() {
    return sinceAccepted;
  }

  private static long micros(long nanos) {
    return Math.clamp(nanos / 1_000, 1, LONGEST_MICROS);
  }
}
