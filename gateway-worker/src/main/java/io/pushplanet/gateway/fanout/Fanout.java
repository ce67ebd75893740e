package io.pushplanet.gateway.fanout;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.Confirms;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.cancellation.Cancellations;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/// Brings a message with an open audience to its lanes, one step per order. A step reads a page of
/// devices, publishes them in chunks of at most [Push#MAX_RECIPIENTS] together with their events,
/// and finally publishes the order for the rest to the queue of its priority. All of it is
/// confirmed before [#expand] returns, so that a crash repeats at most one step. A repeated step
/// publishes the order for the rest once more, which [FanoutSteps] takes care of. Memory is bounded
/// by the page. Thread-safe.
public final class Fanout {
  /// Devices per step.
  public static final int PAGE = 10 * Push.MAX_RECIPIENTS;

  private final AudienceDevices devices;
  private final Cancellations cancellations;
  private final SessionDirectory sessions;
  private final FanoutSteps steps;
  private final LanePublisher lanes;
  private final Clock clock;
  private final int pageSize;
  private final Counter recipients;

  Fanout(
      DataSource database,
      SessionDirectory sessions,
      FanoutSteps steps,
      LanePublisher lanes,
      Clock clock,
      MeterRegistry meters) {
    this(database, sessions, steps, lanes, clock, meters, PAGE);
  }

  Fanout(
      DataSource database,
      SessionDirectory sessions,
      FanoutSteps steps,
      LanePublisher lanes,
      Clock clock,
      MeterRegistry meters,
      int pageSize) {
    this.devices = new AudienceDevices(new JdbcTemplate(database));
    this.cancellations = new Cancellations(database);
    this.sessions = sessions;
    this.steps = steps;
    this.lanes = lanes;
    this.clock = clock;
    this.pageSize = pageSize;
    this.recipients = meters.counter("pushplanet.fanout.recipients");
  }

  /// Does one step of an order. Acknowledge the order afterwards.
  ///
  /// @param again whether the broker has handed it out before. Then some devices of the page may
  ///     have got the message, which is looked up for such a push before it is sent
  /// @param mostOverFcm to how many devices it brings the message if none of them has a channel
  ///     besides FCM
  /// @return to how many recipients it brought the message in each lane
  /// @throws io.pushplanet.common.lane.BrokerUnavailable when not everything was confirmed
  /// @throws org.springframework.dao.DataAccessException when the database could not be read
  public Map<String, Integer> expand(FanoutOrder order, boolean again, int mostOverFcm) {
    Push push = order.push();
    Instant now = clock.instant();
    // A time to live of zero means "now or never": such a message is still brought to the devices
    // that are connected.
    boolean tooLate = push.expiredAt(now) && !push.delivery().ttl().isZero();
    if (tooLate || isCancelled(push)) {
      publishEvents(
          List.of(new DeliveryEvent.Expanded(push.app(), now, push.id(), List.of(), true)));
      return Map.of();
    }
    Optional<DeviceId> end = steps.end(order);
    DevicePage page =
        end.map(known -> upTo(known, order))
            .orElseGet(() -> withinQuota(after(order.after(), order), push, mostOverFcm));
    DeviceId last = page.last();
    // Then one event tells of all recipients and that there are no more. Of several events each
    // might arrive without the others.
    boolean endsInOneChunk =
        last == null
            && !page.recipients().isEmpty()
            && page.recipients().size() <= Push.MAX_RECIPIENTS;
    boolean mayBeOut = again || end.isPresent();
    Map<String, Integer> filled =
        publishPage(mayBeOut ? push.putOff() : push, page.recipients(), endsInOneChunk, now);
    if (last != null) {
      DeviceId done = steps.fixEnd(order, last);
      lanes.publishAndWait(
          Topology.fanout(push.delivery().priority()),
          List.of(WireForm.write(new FanoutOrder(push, order.audience(), done))));
    } else if (!endsInOneChunk) {
      publishEvents(
          List.of(new DeliveryEvent.Expanded(push.app(), now, push.id(), List.of(), true)));
    }
    return filled;
  }

  private DevicePage after(@Nullable DeviceId after, FanoutOrder order) {
    return devices.after(order.push().app(), order.audience(), after, pageSize);
  }

  private static DevicePage withinQuota(DevicePage page, Push push, int most) {
    List<Recipient> recipients = page.recipients();
    if (recipients.size() <= most
        || recipients.stream().anyMatch(recipient -> hasOtherThanFcm(recipient, push))) {
      return page;
    }
    List<Recipient> some = recipients.subList(0, most);
    return new DevicePage(some, some.getLast().device());
  }

  private static boolean hasOtherThanFcm(Recipient recipient, Push push) {
    return Stream.of(true, false)
        .flatMap(here -> recipient.channel(push.delivery().route(), here, push.tried()).stream())
        .anyMatch(channel -> channel != Channel.FCM);
  }

  /// The page of a repeated step, which ends where it ended before, however many devices have come
  /// or gone meanwhile.
  private DevicePage upTo(DeviceId end, FanoutOrder order) {
    DevicePage page = after(order.after(), order);
    List<Recipient> recipients = new ArrayList<>(page.recipients());
    while (page.last() != null && isBehind(end, page.last())) {
      page = after(page.last(), order);
      recipients.addAll(page.recipients());
    }
    recipients.removeIf(recipient -> isBehind(recipient.device(), end));
    return new DevicePage(recipients, end);
  }

  /// In the order of the database, which compares bytes.
  private static boolean isBehind(DeviceId device, DeviceId other) {
    return device.value().compareTo(other.value()) > 0;
  }

  /// Publishes all chunks at once, so that the lane lets neighbours travel together. Their events
  /// are confirmed before them.
  ///
  /// @param last whether the event of its only chunk is to tell that there are no more
  /// @return the recipients in each lane
  private Map<String, Integer> publishPage(
      Push push, List<Recipient> page, boolean last, Instant now) {
    Set<DeviceKey> connected = connected(push, page);
    Map<Channel, List<Recipient>> byChannel = new LinkedHashMap<>();
    List<DeliveryEvent> events = new ArrayList<>();
    for (List<Recipient> chunk : chunks(page)) {
      events.add(
          new DeliveryEvent.Expanded(
              push.app(), now, push.id(), chunk.stream().map(Recipient::device).toList(), last));
    }
    for (Recipient recipient : page) {
      boolean here = connected.contains(new DeviceKey(push.app(), recipient.device()));
      Optional<Channel> channel = recipient.channel(push.delivery().route(), here, push.tried());
      channel.ifPresentOrElse(
          found -> byChannel.computeIfAbsent(found, key -> new ArrayList<>()).add(recipient),
          () -> events.add(noChannel(push, recipient, now)));
    }
    publishEvents(events);
    Confirms confirms = new Confirms(lanes);
    byChannel.forEach((channel, some) ->
        chunks(some)
            .forEach(chunk ->
                confirms.publish(
                    Topology.lane(channel, push.delivery().priority()),
                    WireForm.write(push.to(chunk)))));
    confirms.await();
    recipients.increment(page.size());
    return byChannel.entrySet().stream()
        .collect(
            Collectors.toMap(
                some -> Topology.lane(some.getKey(), push.delivery().priority()),
                some -> some.getValue().size()));
  }

  private static List<List<Recipient>> chunks(List<Recipient> some) {
    List<List<Recipient>> chunks = new ArrayList<>();
    for (int from = 0; from < some.size(); from += Push.MAX_RECIPIENTS) {
      chunks.add(some.subList(from, Math.min(from + Push.MAX_RECIPIENTS, some.size())));
    }
    return chunks;
  }

  /// While Redis is away no device counts as connected: vendors' channels and the inbox still reach
  /// all of them.
  private Set<DeviceKey> connected(Push push, List<Recipient> chunk) {
    List<DeviceKey> overMqtt =
        chunk.stream()
            .filter(Recipient::mqtt)
            .map(some -> new DeviceKey(push.app(), some.device()))
            .toList();
    try {
      return sessions.owners(overMqtt).keySet();
    } catch (RedisUnavailable e) {
      return Set.of();
    }
  }

  private boolean isCancelled(Push push) {
    return !cancellations.among(List.of(push.id())).isEmpty();
  }

  private void publishEvents(List<DeliveryEvent> events) {
    for (int from = 0; from < events.size(); from += Push.MAX_RECIPIENTS) {
      lanes.publishAndWait(
          Topology.EVENTS,
          events.subList(from, Math.min(from + Push.MAX_RECIPIENTS, events.size())).stream()
              .map(WireForm::write)
              .toList());
    }
  }

  private static DeliveryEvent noChannel(Push push, Recipient recipient, Instant now) {
    Attempt attempt =
        Attempt.failed(
            null, now, "no_channel", "register a channel for this device or change the route");
    return new DeliveryEvent.Ended(
        push.app(), now, push.id(), recipient.device(), DeliveryState.FAILED, attempt);
  }
}
