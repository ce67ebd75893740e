package io.pushplanet.gateway.delivery;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.lane.Lanes;
import io.pushplanet.gateway.lane.Lanes.Lane;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.parcel.NewestWins;
import io.pushplanet.gateway.parcel.Parcel;
import io.pushplanet.gateway.parcel.SettledBefore;
import io.pushplanet.gateway.parcel.WaitedFor;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The story of the worker. A lane hands it a batch. Every message for every device in the batch is
/// a parcel:
///
/// 1. A parcel past its time to live expires; one that ended or was cancelled before is left out;
///    one that has waited, in `later` or for long in its lane, goes to its device's current user
///    and token, or gives way to a newer one of its collapse key.
/// 2. The parcel goes to the device's node ([MqttDelivery]) or to the vendor ([ProviderDelivery]).
/// 3. The answer becomes an outcome: the parcel ended, waits for another try, takes another
///    channel, or is parked until its device connects.
/// 4. Outcomes leave as they come. Only when all of them are durable does the lane acknowledge the
///    batch ([Outbox]).
///
/// A parcel that fails does not affect the others of its batch. Thread-safe; calls block.
public final class Delivery {
  /// How long a message with a time to live of zero may take from its acceptance until the worker
  /// takes it from its lane.
  static final Duration NOW = Duration.ofSeconds(30);

  /// A message that was accepted so long ago has waited in its lane: its device may have another
  /// user by now, or the message may be cancelled. Long enough for clocks that differ, because each
  /// such message costs a look into MySQL.
  static final Duration LONG_AGO = Duration.ofSeconds(30);

  /// A message for at least so many recipients in one batch counts as a broadcast: one look into
  /// MySQL covers them all.
  private static final int BROADCAST = 32;

  private final Lanes lanes;
  private final MqttDelivery overMqtt;
  private final ProviderDelivery overProviders;
  private final SettledBefore settledBefore;
  private final NewestWins newestWins;
  private final WaitedFor waitedFor;
  private final Outboxes outboxes;
  private final Clock clock;
  private final DeliveryMetrics metrics;

  Delivery(
      Lanes lanes,
      MqttDelivery overMqtt,
      ProviderDelivery overProviders,
      SettledBefore settledBefore,
      NewestWins newestWins,
      WaitedFor waitedFor,
      Outboxes outboxes,
      Clock clock,
      DeliveryMetrics metrics) {
    this.lanes = lanes;
    this.overMqtt = overMqtt;
    this.overProviders = overProviders;
    this.settledBefore = settledBefore;
    this.newestWins = newestWins;
    this.waitedFor = waitedFor;
    this.outboxes = outboxes;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// Delivers a batch of a channel's lane; acknowledge it afterwards.
  ///
  /// @param body a batch of [Push] in wire form
  /// @param redelivered whether the broker handed the batch out before
  /// @param ticket the batch's place in the lane: messages on their first way leave for devices'
  ///     nodes in the order of the tickets
  /// @return items that can never be handled; everything else is durable
  /// @throws io.pushplanet.common.wire.MalformedWire when the body is not a batch
  /// @throws RuntimeException when something could not be made durable: hand the batch out again
  public List<DeadItem> deliver(Channel channel, byte[] body, boolean redelivered, Ticket ticket) {
    List<DeadItem> dead = new ArrayList<>();
    List<Parcel> parcels =
        parcels(channel, WireForm.readBatch(body, Push.class, dead::add), redelivered);
    if (!parcels.isEmpty()) {
      if (parcels.stream().allMatch(Parcel::repeat)) {
        // A repeat has lost its place and must ask MySQL first; do not hold up the batches behind
        // it.
        ticket.pass();
      }
      dead.addAll(deliver(channel, parcels, ticket));
    }
    return dead;
  }

  private List<Parcel> parcels(Channel channel, List<Push> pushes, boolean redelivered) {
    Instant now = clock.instant();
    List<Parcel> parcels = new ArrayList<>();
    for (Push push : pushes) {
      boolean repeat = redelivered || !push.onFirstWay();
      if (!repeat) {
        metrics.takenUp(channel, push, now);
      }
      if (redelivered) {
        metrics.redelivered(channel, push.recipients().size());
      }
      for (Recipient recipient : push.recipients()) {
        boolean waited = !push.onFirstWay() || isOld(push, recipient, now);
        parcels.add(new Parcel(push, recipient, repeat, waited));
      }
    }
    return parcels;
  }

  /// Whether the message has waited in its lane. The chunks of a broadcast may be filled long after
  /// its acceptance; they are asked about together ([#cancelled]), unless they are for users.
  private static boolean isOld(Push push, Recipient recipient, Instant now) {
    return push.acceptedAt().plus(LONG_AGO).isBefore(now)
        && (recipient.user() != null || push.recipients().size() < BROADCAST);
  }

  /// @return dead letters for parcels that failed too often
  private List<DeadItem> deliver(Channel channel, List<Parcel> parcels, Ticket ticket) {
    Lane lane = lanes.lane(channel, parcels.getFirst().push().delivery().priority());
    lane.take(parcels.size());
    try (Outbox outbox = outboxes.outbox(lane.databasePermits())) {
      List<Parcel> wanted = wanted(channel, parcels, lane, outbox);
      // Not before the look-up: other messages would be promised their permits meanwhile.
      tellArrivals(parcels, lane);
      if (channel == Channel.MQTT) {
        overMqtt.deliver(wanted, ticket, lane.longWaits(), outbox);
      } else {
        overProviders.deliver(channel, wanted, lane, outbox);
      }
      outbox.settle();
      return outbox.deadLetters();
    } finally {
      lane.done(parcels.size());
    }
  }

  private List<Parcel> wanted(Channel channel, List<Parcel> parcels, Lane lane, Outbox outbox) {
    List<Parcel> wanted = new ArrayList<>();
    List<Parcel> doubtful = new ArrayList<>();
    Set<MessageId> cancelled = cancelled(parcels, lane);
    for (Parcel parcel : parcels) {
      Push push = parcel.push();
      if (cancelled.contains(push.id())) {
        outbox.cancel(parcel);
        continue;
      }
      if (isTooLate(push)) {
        outbox.end(parcel, DeliveryState.EXPIRED, Attempt.expired(null, outbox.now(), "ttl", null));
      } else if (parcel.repeat() || parcel.waited()) {
        doubtful.add(parcel);
      } else {
        wanted.add(parcel);
      }
    }
    if (!doubtful.isEmpty()) {
      wanted.addAll(
          lane.databasePermits().withPermit(() -> stillWanted(channel, doubtful, outbox)));
    }
    return wanted;
  }

  /// A time to live of zero means "now or never": the first try is made, unless the lane stood
  /// still for longer than [#NOW]. A broadcast may take longer.
  private boolean isTooLate(Push push) {
    if (push.delivery().ttl().isZero() && push.attempt() == 0) {
      return push.audience() == null && push.expiredAt(clock.instant().minus(NOW));
    }
    return push.expiredAt(clock.instant());
  }

  private List<Parcel> stillWanted(Channel channel, List<Parcel> doubtful, Outbox outbox) {
    SettledBefore.Checked settled = settledBefore.check(doubtful);
    settled.calledOff().forEach(parcel -> outbox.callOff(parcel, channel));
    settled.cancelled().forEach(outbox::cancel);
    WaitedFor.Checked now = waitedFor.check(channel, settled.left());
    now.deleted().forEach(parcel -> reject(parcel, channel, "device_deleted", outbox));
    now.ofFormerUser().forEach(parcel -> reject(parcel, channel, "user_changed", outbox));
    now.withoutToken().forEach(parcel -> overProviders.noToken(channel, parcel, outbox));
    if (!settled.known() || !now.known()) {
      return neverWaited(channel, now.left(), outbox);
    }
    // Last, because a message that is not sent replaces none.
    NewestWins.Checked newest = newestWins.check(now.left());
    newest.collapsed().forEach(parcel -> collapse(parcel, channel, outbox));
    return newest.left();
  }

  /// MySQL does not say what is still wanted. Parcels that came back from `later` wait once more,
  /// because their devices may have other users by now, or their messages may be cancelled; so do
  /// those for a user that have waited in the lane. The others are sent: a device knows a repeat by
  /// the message's id.
  private static List<Parcel> neverWaited(Channel channel, List<Parcel> unknown, Outbox outbox) {
    List<Parcel> fresh = new ArrayList<>();
    for (Parcel parcel : unknown) {
      boolean forUser = parcel.waited() && parcel.recipient().user() != null;
      if ((parcel.push().cameBack() || forUser) && parcel.push().inInbox() == null) {
        outbox.waitUnchecked(parcel, channel);
      } else {
        fresh.add(parcel);
      }
    }
    return fresh;
  }

  private static void reject(Parcel parcel, Channel channel, String reason, Outbox outbox) {
    outbox.end(parcel, DeliveryState.FAILED, Attempt.rejected(channel, outbox.now(), reason));
  }

  private static void collapse(Parcel parcel, Channel channel, Outbox outbox) {
    outbox.end(parcel, DeliveryState.EXPIRED, Attempt.collapsed(channel, outbox.now()));
  }

  /// The broadcasts in the batch that were cancelled. Checked even on first delivery: one query
  /// covers thousands of devices.
  private Set<MessageId> cancelled(List<Parcel> parcels, Lane lane) {
    Set<MessageId> broadcasts = new HashSet<>();
    for (Parcel parcel : parcels) {
      if (parcel.push().recipients().size() >= BROADCAST) {
        broadcasts.add(parcel.push().id());
      }
    }
    return broadcasts.isEmpty()
        ? broadcasts
        : lane.databasePermits().withPermit(() -> settledBefore.cancelled(broadcasts));
  }

  private static void tellArrivals(List<Parcel> parcels, Lane lane) {
    Map<MessageId, Integer> cameBack = new HashMap<>();
    for (Parcel parcel : parcels) {
      Push push = parcel.push();
      if (push.cameBack()
          && (cameBack.merge(push.id(), 1, Integer::sum) - 1) % lane.returningTogether() == 0) {
        lane.returning().arrived(push.app());
      }
    }
  }
}
