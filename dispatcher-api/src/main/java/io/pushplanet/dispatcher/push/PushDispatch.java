package io.pushplanet.dispatcher.push;

import io.pushplanet.common.delivery.Attempt;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.lane.BrokerUnavailable;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.LiveActivity.BroadcastChannel;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.Overrides;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.audience.AudienceResolver;
import io.pushplanet.dispatcher.audience.AudienceResolver.LookUp;
import io.pushplanet.dispatcher.audience.AudienceResolver.Resolution;
import io.pushplanet.dispatcher.idempotency.Work;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.lane.ConfirmedPublisher;
import io.pushplanet.dispatcher.lane.QueueItem;
import io.pushplanet.dispatcher.message.AcceptedMessages;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// The way of a message through this process: find its devices, choose a lane for each, publish the
/// message and its accepted event, and answer "accepted" only when the broker has confirmed
/// everything. When the routes are known, it reads no table. Thread-safe.
///
/// The worker's `Delivery` takes the message from here.
@Component
class PushDispatch {
  /// Few devices use these channels. A payload is measured for one of them only when no other
  /// channel leads to the devices.
  private static final List<Channel> RARE = List.of(Channel.HMS, Channel.WEBPUSH);

  private final AudienceResolver audiences;
  private final SessionDirectory directory;
  private final ConfirmedPublisher publisher;
  private final AcceptedMessages accepted;
  private final Clock clock;
  private final PushMetrics metrics;

  PushDispatch(
      AudienceResolver audiences,
      SessionDirectory directory,
      ConfirmedPublisher publisher,
      AcceptedMessages accepted,
      Clock clock,
      PushMetrics metrics) {
    this.audiences = audiences;
    this.directory = directory;
    this.publisher = publisher;
    this.accepted = accepted;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// A message with everything that the broker must confirm before the message counts as accepted.
  ///
  /// @param items everything to publish, the accepted event included
  /// @param acceptedEvent the item that says that the message was accepted
  /// @param unreachable the devices that no channel leads to
  record Prepared(
      Receipt receipt,
      Priority priority,
      List<QueueItem> items,
      QueueItem acceptedEvent,
      List<Unreachable> unreachable) {
    long bytes() {
      return items.stream().mapToLong(item -> item.body().length).sum();
    }
  }

  /// @throws BrokerUnavailable when the broker has not confirmed everything; the message may still
  ///     arrive
  Receipt send(AppId app, SendRequest request, Work work, @Nullable String traceparent) {
    Prepared prepared = prepare(app, request, work.id(), traceparent, lookUpOfOne(app));
    work.goesOn();
    publish(List.of(prepared));
    return prepared.receipt();
  }

  /// What [#send] would answer, and which devices it could not reach. Publishes nothing.
  Validation validate(AppId app, SendRequest request, MessageId id) {
    Prepared prepared = prepare(app, request, id, null, lookUpOfOne(app));
    return Validation.of(prepared.receipt(), prepared.unreachable());
  }

  private LookUp lookUpOfOne(AppId app) {
    return audiences.begin(app, List.of());
  }

  /// Looks up together what all messages of one batch need, for [#prepare].
  LookUp beginLookUp(AppId app, Collection<SendRequest> requests) {
    return metrics.resolving(
        () -> audiences.begin(app, requests.stream().map(SendRequest::audience).toList()));
  }

  /// Finds the recipients and encodes the items to publish. Changes nothing.
  ///
  /// @param lookUp the look-up of the request that the message came in
  /// @throws ProblemException 413 when the message is too large for the only channel that leads to
  ///     its devices
  Prepared prepare(
      AppId app, SendRequest request, MessageId id, @Nullable String traceparent, LookUp lookUp) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
    Resolution resolution = metrics.resolving(() -> resolution(app, request, lookUp));
    Push push =
        Push.accepted(
            id,
            app,
            request.content(),
            request.delivery(),
            overrides(request, resolution),
            now,
            traceparent);
    return switch (resolution) {
      case Resolution.Known(AudienceResolver.Found found) -> toDevices(push, request, found);
      case Resolution.OverChannel(AudienceResolver.Found found, BroadcastChannel _) ->
          toDevices(push, request, found);
      case Resolution.Broad broad -> toFanout(push, request, broad.estimate());
    };
  }

  private Resolution resolution(AppId app, SendRequest request, LookUp lookUp) {
    try {
      return audiences.resolve(app, request.audience(), lookUp);
    } catch (ProblemException e) {
      // A message that is too large for anything but a call gets that 413 instead, as it would with
      // a known audience.
      PayloadSizes.check(request, List.of());
      throw e;
    }
  }

  private static Overrides overrides(SendRequest request, Resolution resolution) {
    return resolution
            instanceof Resolution.OverChannel(AudienceResolver.Found _, BroadcastChannel channel)
        ? request.overrides().over(channel)
        : request.overrides();
  }

  /// @throws BrokerUnavailable when the broker has not confirmed all of them
  void publish(List<Prepared> messages) {
    publisher.publish(messages.stream().flatMap(message -> message.items().stream()).toList());
    Instant confirmedAt = clock.instant();
    for (Prepared message : messages) {
      metrics.confirmed(message, confirmedAt);
      accepted.remember(message.receipt().id(), message.acceptedEvent().body());
    }
  }

  private Prepared toDevices(Push push, SendRequest request, AudienceResolver.Found found) {
    PayloadSizes.check(request, found.routes().values());
    checkPushMagic(request, found.routes().values());
    Map<Channel, List<Recipient>> byChannel = new EnumMap<>(Channel.class);
    List<QueueItem> items = new ArrayList<>();
    List<Unreachable> unreachable = new ArrayList<>();
    Set<DeviceId> connected = connected(push, found);
    for (DeviceId device : found.devices()) {
      DeviceRoute route = found.routes().get(device);
      if (route == null) {
        unreachable.add(
            new Unreachable(device, "unknown_device", "register this device or forget its id"));
        continue;
      }
      Recipient recipient = found.recipient(route);
      Optional<Channel> channel =
          recipient.channel(push.delivery().route(), connected.contains(device), List.of());
      if (channel.isEmpty()) {
        unreachable.add(
            new Unreachable(
                device, "no_channel", "register a channel for this device or change the route"));
      } else {
        byChannel.computeIfAbsent(channel.get(), _ -> new ArrayList<>()).add(recipient);
      }
    }
    unreachable.forEach(one -> items.add(failedEvent(push, one)));
    onlyRareChannel(push.delivery().route(), byChannel)
        .ifPresent(channel -> PayloadSizes.checkOnly(channel, request));
    Push part = push.ofAudience(found.devices().size());
    byChannel.forEach(
        (channel, recipients) -> addChunks(items, part, request.written(), channel, recipients));
    QueueItem acceptedEvent = acceptedEvent(push, request, found.devices(), null);
    return prepared(push, items, acceptedEvent, unreachable, found.devices().size());
  }

  private static void checkPushMagic(SendRequest request, Collection<DeviceRoute> devices) {
    if (request.overrides().liveActivity() != null
        || request.content().data().containsKey(ApnsPushType.PUSH_MAGIC)) {
      return;
    }
    Findings findings = new Findings();
    devices.stream()
        .filter(PushDispatch::isManaged)
        .findFirst()
        .ifPresent(route ->
            findings.add(
                "/content/data",
                "push_magic_required",
                "device \""
                    + route.device()
                    + "\" is of push type mdm and wants its PushMagic: {\"mdm\":\"...\"}"));
    findings.refuse();
  }

  private static boolean isManaged(DeviceRoute route) {
    return route.apns() != null && route.apns().type() == ApnsPushType.MDM;
  }

  /// The rare channel that is the only way to every one of the devices, if there is one. Where only
  /// some devices depend on a rare channel and the message is too large for it, the deliveries to
  /// these devices fail with that reason instead.
  private static Optional<Channel> onlyRareChannel(
      Route route, Map<Channel, List<Recipient>> byChannel) {
    return RARE.stream()
        .filter(channel ->
            byChannel.keySet().equals(Set.of(channel))
                && byChannel.getOrDefault(channel, List.of()).stream()
                    .allMatch(it -> it.channel(route, false, List.of(channel)).isEmpty()))
        .findAny();
  }

  private static void addChunks(
      List<QueueItem> items, Push push, Json content, Channel channel, List<Recipient> recipients) {
    String queue = Topology.lane(channel, push.delivery().priority());
    for (int from = 0; from < recipients.size(); from += Push.MAX_RECIPIENTS) {
      List<Recipient> chunk =
          recipients.subList(from, Math.min(recipients.size(), from + Push.MAX_RECIPIENTS));
      items.add(new QueueItem(queue, WireForm.write(push.to(chunk), content)));
    }
  }

  private Prepared toFanout(Push push, SendRequest request, @Nullable Integer estimate) {
    Push part = push.ofAudience(estimate == null ? Push.UNCOUNTED : estimate);
    List<QueueItem> items = new ArrayList<>();
    items.add(
        QueueItem.of(
            Topology.fanout(push.delivery().priority()),
            new FanoutOrder(part, request.audience(), null)));
    int about = estimate == null ? 0 : estimate;
    QueueItem acceptedEvent = acceptedEvent(push, request, List.of(), about);
    return prepared(push, items, acceptedEvent, List.of(), estimate);
  }

  private static Prepared prepared(
      Push push,
      List<QueueItem> items,
      QueueItem acceptedEvent,
      List<Unreachable> unreachable,
      @Nullable Integer estimate) {
    items.add(acceptedEvent);
    return new Prepared(
        Receipt.accepted(push.id(), push.acceptedAt(), estimate),
        push.delivery().priority(),
        items,
        acceptedEvent,
        unreachable);
  }

  /// @param estimate null when `devices` are all recipients
  private static QueueItem acceptedEvent(
      Push push, SendRequest request, List<DeviceId> devices, @Nullable Integer estimate) {
    return QueueItem.of(
        Topology.ACCEPTED,
        new DeliveryEvent.Accepted(
            push.app(),
            push.acceptedAt(),
            push.id(),
            push.expiresAt(),
            WireForm.json(request.audience()),
            request.written(),
            WireForm.json(push.delivery()),
            devices,
            estimate == null,
            estimate));
  }

  /// Ends the delivery to an unreachable device at once.
  private static QueueItem failedEvent(Push push, Unreachable one) {
    Attempt attempt = Attempt.rejected(null, push.acceptedAt(), one.reason(), one.action());
    return QueueItem.of(
        Topology.EVENTS,
        new DeliveryEvent.Ended(
            push.app(), push.acceptedAt(), push.id(), one.device(), DeliveryState.FAILED, attempt));
  }

  /// The devices that are connected. The directory is asked only about devices where the answer
  /// decides the channel: those with both MQTT and a vendor, under route `auto`. While the
  /// directory is away, these devices count as connected: the worker falls back to the vendor where
  /// one is not.
  private Set<DeviceId> connected(Push push, AudienceResolver.Found found) {
    if (push.delivery().route() != Route.AUTO) {
      return Set.of();
    }
    List<DeviceKey> undecided =
        found.routes().values().stream()
            .filter(route -> route.mqtt() && route.recipient().vendor(List.of()).isPresent())
            .map(route -> new DeviceKey(push.app(), route.device()))
            .toList();
    Set<DeviceId> connected = new HashSet<>();
    try {
      directory.owners(undecided).keySet().forEach(key -> connected.add(key.device()));
    } catch (RedisUnavailable e) {
      undecided.forEach(key -> connected.add(key.device()));
    }
    return connected;
  }
}
