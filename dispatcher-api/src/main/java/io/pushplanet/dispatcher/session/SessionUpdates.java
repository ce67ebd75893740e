package io.pushplanet.dispatcher.session;

import io.lettuce.core.ScriptOutputType;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.LastSeen;
import io.pushplanet.dispatcher.registration.RegisteredDevice;
import io.pushplanet.dispatcher.route.RouteLookup;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/// Session updates. They are written to Redis at once, one entry with the newest values for each
/// device; [SessionWriter] writes them to MySQL soon. While Redis is away, updates go to MySQL one
/// by one. Thread-safe.
@Component
public class SessionUpdates {
  /// KEYS[1] pending; ARGV device, then time, version, locale, time zone. An empty part leaves the
  /// present value with the time at which it was given. Older dispatchers read the first four lines
  /// alone, and write no others: the values of such an entry are as old as the entry.
  private static final String PUT =
      """
      local held = {}
      for line in string.gmatch((redis.call('HGET', KEYS[1], ARGV[1]) or '') .. '\\n', '(.-)\\n') do
        held[#held + 1] = line
      end
      local lines = {ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[2], ARGV[2], ARGV[2]}
      for i = 2, 4 do
        if lines[i] == '' and (held[i] or '') ~= '' then
          lines[i] = held[i]
          lines[i + 3] = held[i + 3] or held[1]
        end
      end
      redis.call('HSET', KEYS[1], ARGV[1], table.concat(lines, '\\n'))
      return 1
      """;

  private final RedisLink redis;
  private final RouteLookup routes;
  private final SessionMapper mapper;
  private final Clock clock;
  private final Counter received;

  SessionUpdates(
      RedisLink redis,
      RouteLookup routes,
      SessionMapper mapper,
      Clock clock,
      MeterRegistry meters) {
    this.redis = redis;
    this.routes = routes;
    this.mapper = mapper;
    this.clock = clock;
    this.received = meters.counter("pushplanet.session.updates", "step", "received");
  }

  /// Returns when the update would survive a crash of this process.
  ///
  /// @return whether the device is known
  public boolean update(AppId app, DeviceId device, SessionUpdate update) {
    received.increment();
    if (routes.find(app, List.of(device)).isEmpty()) {
      return false;
    }
    try {
      put(app, device, update);
      return true;
    } catch (RedisUnavailable e) {
      return mapper.seen(Seen.of(new DeviceKey(app, device), clock.instant(), update)) > 0;
    }
  }

  /// The updates of a device that may not have reached its row yet, oldest first.
  ///
  /// @param until later updates are not among them
  public record Told(Instant until, List<Seen> updates) {
    public RegisteredDevice over(RegisteredDevice stored) {
      RegisteredDevice newest = stored;
      for (Seen update : updates) {
        newest = update.over(newest);
      }
      return newest;
    }
  }

  /// Empty while Redis is away.
  public Told told(AppId app, DeviceId device) {
    Instant until = clock.instant().truncatedTo(ChronoUnit.MILLIS);
    try {
      String field = field(app, device);
      // Read first, although it is the newest: the pending hash may become a claim meanwhile, but a
      // claim never becomes pending again.
      String pending = redis.ask(commands -> commands.hget(LastSeen.PENDING, field));
      List<String> held = new ArrayList<>();
      for (String claim : redis.ask(commands -> commands.smembers(SessionWriter.CLAIMS))) {
        held.add(redis.ask(commands -> commands.hget(claim, field)));
      }
      held.add(pending);
      return new Told(
          until,
          held.stream()
              .filter(Objects::nonNull)
              .map(text -> Seen.parse(field, text))
              .sorted(Comparator.comparing(Seen::at))
              .toList());
    } catch (RedisUnavailable e) {
      return new Told(until, List.of());
    }
  }

  private void put(AppId app, DeviceId device, SessionUpdate update) {
    Long done =
        redis.ask(commands ->
            commands.<Long>eval(
                PUT,
                ScriptOutputType.INTEGER,
                new String[] {LastSeen.PENDING},
                field(app, device),
                Long.toString(clock.millis()),
                orEmpty(update.appVersion()),
                orEmpty(update.locale()),
                orEmpty(update.timezone())));
    if (done != 1) {
      throw new IllegalStateException("Redis ran another script");
    }
  }

  private static String field(AppId app, DeviceId device) {
    return app.value() + "/" + device.value();
  }

  private static String orEmpty(@Nullable String text) {
    return text == null ? "" : text;
  }
}
