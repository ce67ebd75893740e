package io.pushplanet.dispatcher.route;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.quickstart.services.LocalServices;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Routes are kept in the real Redis; MySQL takes as long as a test says.
class RouteLookupIT {
  private static final DeviceId DEVICE = new DeviceId("d1");

  private final AppId app = new AppId("app-" + UUID.randomUUID());
  private final AtomicLong nanos = new AtomicLong();
  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final RouteStore store = new RouteStore(redis);

  @AfterEach
  void close() {
    redis.close();
    client.shutdown();
  }

  /// The device may have been changed meanwhile.
  @ParameterizedTest
  @CsvSource({"PT0.9S, 1", "PT1S, 0", "PT1H, 0"})
  void a_route_that_took_long_to_read_is_not_kept(Duration took, int kept) {
    RouteLookup lookup =
        new RouteLookup(
            store,
            (_, devices) -> {
              nanos.addAndGet(took.toNanos());
              return rows(devices);
            },
            nanos::get,
            new SimpleMeterRegistry());

    assertThat(lookup.find(app, List.of(DEVICE))).containsOnlyKeys(DEVICE);

    assertThat(store.find(List.of(new DeviceKey(app, DEVICE)))).hasSize(kept);
  }

  private static List<RouteMapper.Row> rows(Collection<String> devices) {
    return devices.stream()
        .map(device -> new RouteMapper.Row(device, "ios", true, null, null, null, null, null))
        .toList();
  }
}
