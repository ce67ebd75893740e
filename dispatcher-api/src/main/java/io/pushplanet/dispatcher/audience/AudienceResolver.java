package io.pushplanet.dispatcher.audience;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.LiveActivity.BroadcastChannel;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.route.RouteLookup;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// Finds the devices of an audience when they are few enough to be found at once. All other
/// audiences are left to the fan-out role.
@Component
public class AudienceResolver {
  private static final int DEVICES_OF_ONE_USER = 4;

  /// A message to at most this many devices counts as small.
  public static final int FEW_DEVICES = 64;

  private final RouteLookup routes;
  private final AudienceMapper mapper;
  private final AudienceCounts counts;

  AudienceResolver(RouteLookup routes, AudienceMapper mapper, AudienceCounts counts) {
    this.routes = routes;
    this.mapper = mapper;
    this.counts = counts;
  }

  /// @param routes of the registered ones among `devices`
  /// @param users the users of devices that were found by their users
  public record Found(
      List<DeviceId> devices, Map<DeviceId, DeviceRoute> routes, Map<DeviceId, String> users) {
    /// Devices that the audience names themselves.
    Found(List<DeviceId> devices, Map<DeviceId, DeviceRoute> routes) {
      this(devices, routes, Map.of());
    }

    public Recipient recipient(DeviceRoute route) {
      return route.recipient().of(users.get(route.device()));
    }
  }

  /// The result of resolving an audience.
  public sealed interface Resolution {
    record Known(Found found) implements Resolution {}

    /// @param estimate null when there is no count
    record Broad(@Nullable Integer estimate) implements Resolution {}

    /// @param found the channel, in the place of a device
    record OverChannel(Found found, BroadcastChannel channel) implements Resolution {}
  }

  /// What was looked up for one request, and how long the request may wait for counts.
  ///
  /// @param routes of the single devices that its audiences name; a device that is not registered
  ///     is absent
  /// @param countUntilNanos until when the request waits for counts
  public record LookUp(Map<DeviceId, DeviceRoute> routes, long countUntilNanos) {}

  /// Begins the look-up for one request. It asks once for the routes of all audiences that are a
  /// single device.
  public LookUp begin(AppId app, Collection<Audience> audiences) {
    long countUntilNanos = counts.waitUntilNanos();
    Set<DeviceId> alone = new HashSet<>();
    for (Audience audience : audiences) {
      if (audience instanceof Audience.Devices(List<DeviceId> devices) && devices.size() == 1) {
        alone.add(devices.getFirst());
      }
    }
    return new LookUp(alone.isEmpty() ? Map.of() : routes.find(app, alone), countUntilNanos);
  }

  /// @param lookUp of the request
  /// @throws ProblemException `device_not_found` when the only device of the audience is not
  ///     registered, `channel_not_found` and `channel_not_ready` likewise
  public Resolution resolve(AppId app, Audience audience, LookUp lookUp) {
    return switch (audience) {
      case Audience.Devices(List<DeviceId> devices) ->
          new Resolution.Known(named(app, devices, lookUp.routes()));
      case Audience.Users users -> ofUsers(app, users, lookUp);
      case Audience.ActivityChannel(ActivityChannelId channel) -> overChannel(app, channel);
      case Audience.FcmFollowers followers -> new Resolution.Known(FcmTopics.found(followers));
      case Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.And _,
          Audience.Or _,
          Audience.Not _ ->
          broad(app, audience, lookUp);
    };
  }

  private Found named(AppId app, List<DeviceId> devices, Map<DeviceId, DeviceRoute> known) {
    DeviceRoute alone = devices.size() == 1 ? known.get(devices.getFirst()) : null;
    Map<DeviceId, DeviceRoute> found =
        alone == null ? routes.find(app, devices) : Map.of(alone.device(), alone);
    if (devices.size() == 1 && found.isEmpty()) {
      String detail = "There is no device \"" + devices.getFirst() + "\" in this app.";
      throw ProblemException.of(
          ProblemCode.DEVICE_NOT_FOUND,
          detail,
          List.of(new FieldError("/audience", "device_not_found", detail)));
    }
    return new Found(devices, found);
  }

  /// Reads the channel again for each message: one channel stands for very many devices, and a
  /// message over a deleted channel must be refused at once.
  private Resolution overChannel(AppId app, ActivityChannelId id) {
    AudienceMapper.Channel channel =
        mapper
            .channel(app.value(), id.value())
            .orElseThrow(() ->
                refused(
                    ProblemCode.CHANNEL_NOT_FOUND,
                    "channel_not_found",
                    "There is no channel \"" + id + "\" in this app."));
    if (!channel.state().equals("ready")) {
      throw refused(
          ProblemCode.CHANNEL_NOT_READY,
          "channel_not_ready",
          "Channel \""
              + id
              + "\" is "
              + channel.state()
              + (channel.reason().isEmpty() ? "" : " (" + channel.reason() + ")")
              + ", not ready.");
    }
    DeviceId recipient = id.recipient();
    ApnsToken way = new ApnsToken(channel.apnsId(), channel.environment(), channel.createdAt());
    DeviceRoute route = new DeviceRoute(recipient, Platform.IOS, false, way, null, null, null);
    return new Resolution.OverChannel(
        new Found(List.of(recipient), Map.of(recipient, route)),
        new BroadcastChannel(channel.apnsId(), channel.keeps().equals("newest")));
  }

  private static ProblemException refused(ProblemCode code, String word, String detail) {
    return ProblemException.of(
        code, detail, List.of(new FieldError("/audience/channel", word, detail)));
  }

  /// The most devices that a message to this many users may have without a fan-out. A user has a
  /// handful of devices. Users with more (such as one user for all devices that are not logged in)
  /// are found like the followers of a topic.
  public static int mostDevicesOf(int users) {
    return Math.clamp((long) users * DEVICES_OF_ONE_USER, FEW_DEVICES, Audience.Devices.MAX);
  }

  private Resolution ofUsers(AppId app, Audience.Users audience, LookUp lookUp) {
    int most = mostDevicesOf(audience.users().size());
    Map<DeviceId, String> users = new LinkedHashMap<>();
    mapper
        .devicesOf(app.value(), audience.users(), most + 1)
        .forEach(row -> users.put(new DeviceId(row.deviceId()), row.userId()));
    Set<DeviceId> devices = users.keySet();
    if (devices.size() > most) {
      return broad(app, audience, lookUp);
    }
    Map<DeviceId, DeviceRoute> found = new HashMap<>(routes.find(app, devices));
    found.values().removeIf(route -> route.recipient().onlyForNamed());
    return new Resolution.Known(
        new Found(devices.stream().filter(found::containsKey).toList(), found, users));
  }

  /// Without a count the message is accepted all the same, because its recipients are found later.
  private Resolution broad(AppId app, Audience audience, LookUp lookUp) {
    OptionalInt about = counts.about(app, audience, lookUp.countUntilNanos());
    return new Resolution.Broad(about.isPresent() ? about.getAsInt() : null);
  }
}
