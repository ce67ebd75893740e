package io.pushplanet.gateway.delivery;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.wire.LanePublisher;
import io.pushplanet.common.wire.Topology;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.inbox.Parked;
import io.pushplanet.gateway.later.Later;
import io.pushplanet.gateway.later.LaterStore;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Everything that must be durable before an AMQP message is acknowledged: what is parked, what waits, what goes to another
/// lane, what is told. Gathered while parcels are delivered (also by many threads), settled once.
final class Outbox {
  private final InboxStore inbox;
  private final LaterStore later;
  private final LanePublisher lanes;
  private final Clock clock;
  private final MeterRegistry meters;
  private final List<Parcel> parked = new ArrayList<>();
  private final List<Later> waiting = new ArrayList<>();
  private final Map<String, List<byte[]>> elsewhere = new LinkedHashMap<>();
  private final List<DeliveryEvent> events = new ArrayList<>();

  Outbox(
      InboxStore inbox, LaterStore later, LanePublisher lanes, Clock clock, MeterRegistry meters) {
    this.inbox = inbox;
    this.later = later;
    this.lanes = lanes;
    this.clock = clock;
    this.meters = meters;
  }

  synchronized void end(Parcel parcel, DeliveryState state, Attempt attempt) {
    Push push = parcel.push();
    events.add(
        new DeliveryEvent.Ended(
            push.app(), attempt.at(), push.id(), parcel.recipient().device(), state, attempt));
    count(attempt.channel(), state.word());
    meters
        .timer(
            "pushplanet.accept.to.outcome",
            "channel",
            word(attempt.channel()),
            "result",
            state.word())
        .record(Duration.between(push.acceptedAt(), attempt.at()));
  }

  synchronized void park(Parcel parcel, Attempt attempt) {
    parked.add(parcel);
    tell(parcel, attempt);
    count(attempt.channel(), "parked");
  }

  synchronized void retry(Parcel parcel, Channel channel, Instant dueAt, Attempt attempt) {
    Push push = parcel.alone().again();
    String lane = Topology.lane(channel, push.delivery().priority());
    waiting.add(
        new Later(dueAt, lane, attempt.reason() == null ? "retry" : attempt.reason(), push));
    tell(parcel, attempt);
    count(channel, "deferred");
  }

  /// Gives up `from` for this parcel and tries `to`.
  synchronized void fallBack(Parcel parcel, Channel from, Channel to, Attempt attempt) {
    Push push = parcel.alone().without(from);
    elsewhere
        .computeIfAbsent(Topology.lane(to, push.delivery().priority()), lane -> new ArrayList<>())
        .add(WireForm.write(push));
    tell(parcel, attempt);
    count(from, "fell_back");
  }

  /// Makes all of it durable: first what moves messages, last what tells of it.
  ///
  /// @return the parcels that were parked
  /// @throws RuntimeException when a part of it may not be durable: do not acknowledge
  synchronized List<Parcel> settle() {
    inbox.park(
        parked.stream()
            .map(parcel -> new Parked(parcel.push(), parcel.recipient().device()))
            .toList());
    if (!waiting.isEmpty()) {
      later.keep(waiting);
    }
    elsewhere.forEach(lanes::publishAndWait);
    if (!events.isEmpty()) {
      lanes.publishAndWait(Topology.EVENTS, events.stream().map(WireForm::write).toList());
    }
    return List.copyOf(parked);
  }

  Attempt attempt(
      @Nullable Channel channel,
      String result,
      @Nullable Integer status,
      @Nullable String reason,
      @Nullable String providerId,
      @Nullable String action) {
    return new Attempt(channel, clock.instant(), result, status, reason, providerId, action);
  }

  private void tell(Parcel parcel, Attempt attempt) {
    Push push = parcel.push();
    events.add(
        new DeliveryEvent.Attempted(
            push.app(), attempt.at(), push.id(), parcel.recipient().device(), attempt));
  }

  private void count(@Nullable Channel channel, String result) {
    meters.counter("pushplanet.outcomes", "channel", word(channel), "result", result).increment();
  }

  private static String word(@Nullable Channel channel) {
    return channel == null ? "none" : channel.word();
  }
}
