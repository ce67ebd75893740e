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
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DeviceRoute;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.wire.FanoutOrder;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.audience.AudienceResolver;
import io.pushplanet.dispatcher.audience.AudienceResolver.LookUp;
import io.pushplanet.dispatcher.audience.AudienceResolver.Resolution;
import io.pushplanet.dispatcher.input.Findings;
import io.pushplanet.dispatcher.lane.Lanes;
import io.pushplanet.dispatcher.lane.Parcel;
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

/// The way of a message through this process: find its devices, choose each one's lane, publish the message and the news of
/// it, and say "accepted" only when the broker has confirmed them all. Touches no table when routes are known. Thread-safe.
///
/// The next link is the worker's `Delivery`.
@Component
class PushDispatch {
  /// Their sizes are not looked at before it is known that nothing else leads to the devices.
  private static final List<Channel> SELDOM = List.of(Channel.HMS, Channel.WEBPUSH);

  private final AudienceResolver audiences;
  private final SessionDirectory directory;
  private final Lanes lanes;
  private final AcceptedMessages accepted;
  private final Clock clock;
  private final PushMetrics metrics;

  PushDispatch(
      AudienceResolver audiences,
      SessionDirectory directory,
      Lanes lanes,
      AcceptedMessages accepted,
      Clock clock,
      PushMetrics metrics) {
    this.audiences = audiences;
    this.directory = directory;
    this.lanes = lanes;
    this.accepted = accepted;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// A message with everything that must be confirmed before it counts as accepted.
  ///
  /// @param news that it was accepted, one of the parcels
  /// @param failing devices that no way leads to
  record Prepared(
      Receipt receipt, Priority priority, List<Parcel> parcels, Parcel news, List<NoWay> failing) {
    long bytes() {
      return parcels.stream().mapToLong(parcel -> parcel.body().length).sum();
    }
  }

  /// @throws BrokerUnavailable when nothing can be promised
  Receipt send(AppId app, SendRequest request, MessageId id, @Nullable String traceparent) {
    Prepared prepared = prepare(app, request, id, traceparent, alone(app));
    publish(List.of(prepared));
    return prepared.receipt();
  }

  /// What [#send] would answer, and what would become of it as far as that is known; nothing is published.
  Validation validate(AppId app, SendRequest request, MessageId id) {
    Prepared prepared = prepare(app, request, id, null, alone(app));
    return Validation.of(prepared.receipt(), prepared.failing());
  }

  private LookUp alone(AppId app) {
    return audiences.begin(app, List.of());
  }

  /// Begins the look-up of what came in one request, for [#prepare].
  LookUp begin(AppId app, Collection<SendRequest> requests) {
    return metrics.resolving(
        () -> audiences.begin(app, requests.stream().map(SendRequest::audience).toList()));
  }

  /// Finds the recipients and encodes what will be published; changes nothing.
  ///
  /// @param begun of the request that it came in
  /// @throws ProblemException 413 when it is too large for the only way there is
  Prepared prepare(
      AppId app, SendRequest request, MessageId id, @Nullable String traceparent, LookUp begun) {
    Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
    Resolution resolution = metrics.resolving(() -> resolution(app, request, begun));
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

  private Resolution resolution(AppId app, SendRequest request, LookUp begun) {
    try {
      return audiences.resolve(app, request.audience(), begun);
    } catch (ProblemException e) {
      // Too large for anything but a call is said first, whoever it is for.
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

  /// @throws BrokerUnavailable when one of them was not confirmed
  void publish(List<Prepared> prepared) {
    lanes.publish(prepared.stream().flatMap(one -> one.parcels().stream()).toList());
    Instant confirmedAt = clock.instant();
    for (Prepared one : prepared) {
      metrics.confirmed(one, confirmedAt);
      accepted.remember(one.receipt().id(), one.news().body());
    }
  }

  private Prepared toDevices(Push push, SendRequest request, AudienceResolver.Found found) {
    PayloadSizes.check(request, found.routes().values());
    checkPushMagic(request, found.routes().values());
    Map<Channel, List<Recipient>> lanesOf = new EnumMap<>(Channel.class);
    List<Parcel> parcels = new ArrayList<>();
    List<NoWay> failing = new ArrayList<>();
    Set<DeviceId> connected = connected(push, found);
    for (DeviceId device : found.devices()) {
      DeviceRoute route = found.routes().get(device);
      if (route == null) {
        failing.add(new NoWay(device, "unknown_device", "register this device or forget its id"));
        continue;
      }
      Recipient recipient = found.recipient(route);
      Optional<Channel> lane =
          recipient.channel(push.delivery().route(), connected.contains(device), List.of());
      if (lane.isEmpty()) {
        failing.add(
            new NoWay(
                device, "no_channel", "register a channel for this device or change the route"));
      } else {
        lanesOf.computeIfAbsent(lane.get(), channel -> new ArrayList<>()).add(recipient);
      }
    }
    failing.forEach(one -> parcels.add(failed(push, one)));
    onlyOver(push.delivery().route(), lanesOf)
        .ifPresent(channel -> PayloadSizes.checkOnly(channel, request));
    Push part = push.ofAudience(found.devices().size());
    lanesOf.forEach(
        (channel, recipients) -> addChunks(parcels, part, request.written(), channel, recipients));
    Parcel news = news(push, request, found.devices(), null);
    return prepared(push, parcels, news, failing, found.devices().size());
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

  /// The only channel that leads to any of the devices, if it is a seldom one. Where a message is too large for some among
  /// others, their deliveries say so.
  private static Optional<Channel> onlyOver(Route route, Map<Channel, List<Recipient>> lanesOf) {
    return SELDOM.stream()
        .filter(channel ->
            lanesOf.keySet().equals(Set.of(channel))
                && lanesOf.getOrDefault(channel, List.of()).stream()
                    .allMatch(it -> it.channel(route, false, List.of(channel)).isEmpty()))
        .findAny();
  }

  private static void addChunks(
      List<Parcel> parcels, Push push, Json content, Channel channel, List<Recipient> recipients) {
    String queue = Topology.lane(channel, push.delivery().priority());
    for (int from = 0; from < recipients.size(); from += Push.MOST_RECIPIENTS) {
      List<Recipient> chunk =
          recipients.subList(from, Math.min(recipients.size(), from + Push.MOST_RECIPIENTS));
      parcels.add(new Parcel(queue, WireForm.write(push.to(chunk), content)));
    }
  }

  private Prepared toFanout(Push push, SendRequest request, @Nullable Integer estimate) {
    int about = estimate == null ? 0 : estimate;
    List<Parcel> parcels = new ArrayList<>();
    parcels.add(
        Parcel.of(
            Topology.fanout(push.delivery().priority()),
            new FanoutOrder(push.ofAudience(about), request.audience(), null)));
    Parcel news = news(push, request, List.of(), about);
    return prepared(push, parcels, news, List.of(), estimate);
  }

  private static Prepared prepared(
      Push push,
      List<Parcel> parcels,
      Parcel news,
      List<NoWay> failing,
      @Nullable Integer estimate) {
    parcels.add(news);
    return new Prepared(
        Receipt.accepted(push.id(), push.acceptedAt(), estimate),
        push.delivery().priority(),
        parcels,
        news,
        failing);
  }

  /// @param estimate null when `devices` are all
  private static Parcel news(
      Push push, SendRequest request, List<DeviceId> devices, @Nullable Integer estimate) {
    return Parcel.of(
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

  /// The delivery ends as it begins.
  private static Parcel failed(Push push, NoWay one) {
    Attempt attempt = Attempt.rejected(null, push.acceptedAt(), one.reason(), one.action());
    return Parcel.of(
        Topology.EVENTS,
        new DeliveryEvent.Ended(
            push.app(), push.acceptedAt(), push.id(), one.device(), DeliveryState.FAILED, attempt));
  }

  /// Only where it decides anything: a device with both ways, and a caller who leaves the choice to us. While the directory
  /// is away such a device counts as connected: the worker falls back to its vendor when it is not.
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
    } catch (DirectoryUnavailable e) {
      undecided.forEach(key -> connected.add(key.device()));
    }
    return connected;
  }
}
