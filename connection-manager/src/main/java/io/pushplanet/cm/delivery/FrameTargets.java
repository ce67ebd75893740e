package io.pushplanet.cm.delivery;

import io.pushplanet.cm.directory.OwnershipDoubts;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.common.wire.Refusal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Admits the targets of one frame or broadcast, and answers for them. A target that is not
/// admitted is answered at once; an admitted one counts as open until [#settled]. Thread-safe.
public final class FrameTargets {
  /// The clocks of gateways and nodes differ. A frame is stale only when no such difference
  /// explains its age.
  private static final Duration STALE_AFTER = Duration.ofSeconds(5);

  private final String frame;
  private final Answers answers;
  private final Shared shared;
  private final boolean stale;
  final long arrivedNanos;
  final long answerByNanos;

  /// What the answers of all frames and broadcasts have in common.
  ///
  /// @param doubts told when a gateway and this node disagree about which node owns a device
  public record Shared(
      SessionTable sessions,
      TargetPermits permits,
      DeliverySettings settings,
      DeliveryMetrics metrics,
      InstantSource clock,
      LongSupplier nanoTime,
      OwnershipDoubts doubts) {}

  FrameTargets(String frame, Instant answerBy, Answers answers, Shared shared) {
    Instant now = shared.clock().instant();
    this.frame = frame;
    this.answers = answers;
    this.shared = shared;
    this.stale = now.isAfter(answerBy.plus(STALE_AFTER));
    this.arrivedNanos = shared.nanoTime().getAsLong();
    this.answerByNanos = arrivedNanos + shared.settings().patience(now, answerBy).toNanos();
  }

  static SharedPublish publish(NodeFrame.Message message) {
    return new SharedPublish(
        message.id(), Binary.of(message.payload()), message.expiresAt().toEpochMilli());
  }

  /// Answers all targets of a stale frame. This node stood still before it read the frame, and the
  /// gateway has sent its targets another way long ago.
  ///
  /// @return whether the frame is stale
  boolean endStale(int targets) {
    if (!stale) {
      return false;
    }
    shared.metrics().stale.increment();
    for (int target = 0; target < targets; target++) {
      ended(target, Result.TIMEOUT, null);
    }
    return true;
  }

  /// Looks the device's session up.
  ///
  /// @param seen the epoch of the device's owner as the gateway saw it; null where it did not look
  /// @return null when the target has been answered
  @Nullable DeviceSession admit(int target, DeviceKey device, @Nullable Long seen) {
    DeviceSession session = shared.sessions().find(device);
    if (session == null) {
      if (seen != null) {
        shared.doubts().absent(device, seen);
      }
      notHere(target);
      return null;
    }
    if (!Fencing.mayDeliver(seen, session.epoch())) {
      shared.doubts().doubt(session);
      notHere(target);
      return null;
    }
    if (!shared.permits().tryTake()) {
      refused(target, Refusal.NODE_BUSY, null);
      return null;
    }
    return session;
  }

  /// The admitted target's message is on its way to the device.
  void written() {
    shared.metrics().written(shared.nanoTime().getAsLong() - arrivedNanos);
  }

  /// Answers for an admitted target of a frame. The gateway compares the session's epoch with the
  /// one it saw.
  void settled(int target, DeviceSession session, Settlement settlement) {
    shared.permits().giveBack();
    answer(target, session, settlement);
  }

  /// Answers for an admitted target of a broadcast. This node compares the epochs itself, so that
  /// the usual answer is short.
  ///
  /// @param seen the epoch of the device's owner as the gateway saw it
  void settled(int target, DeviceSession session, long seen, Settlement settlement) {
    shared.permits().giveBack();
    if (settlement instanceof Settlement.Delivered && !Fencing.settles(seen, session.epoch())) {
      ended(target, Result.TIMEOUT, "fenced");
    } else if (settlement.equals(Settlement.DELIVERED)) {
      shared.metrics().outcome(Result.DELIVERED);
      answers.delivered(frame, target);
    } else {
      answer(target, session, settlement);
    }
  }

  private void answer(int target, DeviceSession session, Settlement settlement) {
    switch (settlement) {
      case Settlement.Delivered(Instant lateAt) -> {
        shared.metrics().outcome(Result.DELIVERED);
        answers.answer(frame, Outcome.delivered(target, session.epoch(), lateAt));
      }
      case Settlement.NotHere() -> notHere(target);
      case Settlement.NotSubscribed() ->
          ended(target, Result.NOT_HERE, NodeOutcomes.NOT_SUBSCRIBED);
      // The gateway checks the time to live before anything else, and finds that it has ended.
      case Settlement.TimedOut(), Settlement.Expired() -> ended(target, Result.TIMEOUT, null);
      case Settlement.Refused(Refusal why, String detail) -> refused(target, why, detail);
    }
  }

  void refused(int target, Refusal why, @Nullable String detail) {
    shared.metrics().outcome(Result.REFUSED);
    answers.answer(frame, Outcome.refused(target, why, detail));
  }

  void notHere(int target) {
    ended(target, Result.NOT_HERE, null);
  }

  private void ended(int target, Result result, @Nullable String reason) {
    shared.metrics().outcome(result);
    answers.answer(frame, new Outcome(target, result, reason));
  }
}
