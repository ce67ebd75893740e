package io.pushplanet.dispatcher.audience;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.LiveActivity.BroadcastChannel;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.ApnsToken;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.session.DeviceRoute;
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

/// Finds the devices of an audience that are few enough to be found at once; the rest is left to the fan-out role.
@Component
public class AudienceResolver {
  private static final int DEVICES_OF_ONE_USER = 4;

  /// A message to so few is a small one.
  public static final int FEW_DEVICES = 64;

  private final RouteLookup routes;
  private final AudienceMapper mapper;
  private final AudienceCounts counts;

  AudienceResolver(RouteLookup routes, AudienceMapper mapper, AudienceCounts counts) {
    this.routes = routes;
    this.mapper = mapper;
    this.counts = counts;
  }

  /// @param routes may lack a device of `devices`: then it is not registered
  /// @param users whose the devices are that were found by their users
  public record Found(
      List<DeviceId> devices, Map<DeviceId, DeviceRoute> routes, Map<DeviceId, String> users) {
    /// Those who were asked for themselves.
    Found(List<DeviceId> devices, Map<DeviceId, DeviceRoute> routes) {
      this(devices, routes, Map.of());
    }

    public Recipient recipient(DeviceRoute route) {
      return route.recipient().of(users.get(route.device()));
    }
  }

  /// What became of the look-up.
  public sealed interface Resolution {
    record Known(Found found) implements Resolution {}

    /// @param estimate null where nobody could count
    record Broad(@Nullable Integer estimate) implements Resolution {}

    /// @param found the channel in the place of a device
    record OverChannel(Found found, BroadcastChannel channel) implements Resolution {}
  }

  /// What one request knows of its audiences, and how long it may look further.
  ///
  /// @param routes of single devices; who is not registered is absent
  /// @param countUntilNanos until when it waits for counts
  public record LookUp(Map<DeviceId, DeviceRoute> routes, long countUntilNanos) {}

  /// Begins the look-up for one request: with one question for all that have one device for their audience.
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

  /// @param begun of the request
  /// @throws ProblemException `device_not_found` where the one device asked for is not registered, `channel_not_found` and
  ///     `channel_not_ready` likewise
  public Resolution resolve(AppId app, Audience audience, LookUp begun) {
    return switch (audience) {
      case Audience.Devices(List<DeviceId> devices) ->
          new Resolution.Known(named(app, devices, begun.routes()));
      case Audience.Users users -> ofUsers(app, users, begun);
      case Audience.ActivityChannel(ActivityChannelId channel) -> overChannel(app, channel);
      case Audience.FcmFollowers followers -> new Resolution.Known(FcmTopics.found(followers));
      case Audience.Topic _,
          Audience.Tag _,
          Audience.All _,
          Audience.And _,
          Audience.Or _,
          Audience.Not _ ->
          broad(app, audience, begun);
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

  /// Asked anew for each message: one stands for very many devices, and a channel that is deleted is told at once.
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

  /// How many devices a message to so many users is to at most without a fan-out. A user has a handful; where they have more (one
  /// user for all who are not logged in), they are found as those of a topic are.
  public static int mostDevicesOf(int users) {
    return Math.clamp((long) users * DEVICES_OF_ONE_USER, FEW_DEVICES, Audience.Devices.MOST);
  }

  private Resolution ofUsers(AppId app, Audience.Users audience, LookUp begun) {
    int most = mostDevicesOf(audience.users().size());
    Map<DeviceId, String> users = new LinkedHashMap<>();
    mapper
        .devicesOf(app.value(), audience.users(), most + 1)
        .forEach(row -> users.put(new DeviceId(row.deviceId()), row.userId()));
    Set<DeviceId> devices = users.keySet();
    if (devices.size() > most) {
      return broad(app, audience, begun);
    }
    Map<DeviceId, DeviceRoute> found = new HashMap<>(routes.find(app, devices));
    found.values().removeIf(route -> route.recipient().onlyForNamed());
    return new Resolution.Known(
        new Found(devices.stream().filter(found::containsKey).toList(), found, users));
  }

  /// Where nobody can count, the message is accepted all the same: its recipients are found later.
  private Resolution broad(AppId app, Audience audience, LookUp begun) {
    OptionalInt about = counts.about(app, audience, begun.countUntilNanos());
    return new Resolution.Broad(about.isPresent() ? about.getAsInt() : null);
  }
}
