package io.pushplanet.quickstart.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.WebPushSubscription;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.route.DeviceRoute;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionDirectoryIT {
  private static final NodeId NODE_A = new NodeId("node-a");
  private static final DeviceKey D1 = new DeviceKey(new AppId("shop"), new DeviceId("d1"));

  private final LocalServices services = LocalServices.forTests();
  private final MutableClock clock = MutableClock.started();
  private final RedisClient client = RedisClient.create(services.redis().toString());
  private final RedisLink redis = open();
  private final SessionDirectory directory = new SessionDirectory(redis, clock);
  private final RouteStore routes = new RouteStore(redis);

  @BeforeEach
  void empty() {
    redis.connection().sync().flushall();
  }

  @AfterEach
  void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Test
  void a_node_is_found_as_long_as_its_lease_runs() {
    NodeLease lease =
        new NodeLease(NODE_A, "127.0.0.1", 1884, 1883, 9083, 7, false, clock.instant());

    directory.heartbeat(lease);
    assertThat(directory.nodes()).containsExactly(lease);

    directory.leave(NODE_A);
    assertThat(directory.nodes()).isEmpty();
  }

  @Test
  void an_unreadable_lease_hides_no_other() {
    NodeLease lease =
        new NodeLease(NODE_A, "127.0.0.1", 1884, 1883, 9083, 7, false, clock.instant());
    directory.heartbeat(lease);

    redis.connection().sync().hset("nodes", "rubbish", "not JSON");
    redis.connection().sync().hset("nodes", "other-form", "{\"node\":\"other-form\"}");

    assertThat(directory.nodes()).containsExactly(lease);
  }

  @Test
  void a_route_comes_back_as_it_was_until_it_is_forgotten() {
    DeviceRoute route = route();
    DeviceKey unknown = new DeviceKey(D1.app(), new DeviceId("d2"));
    routes.put(Map.of(D1, route));

    assertThat(routes.find(List.of(D1, unknown))).containsExactly(Map.entry(D1, route));

    routes.forget(List.of(D1));
    assertThat(routes.find(List.of(D1))).isEmpty();
  }

  /// Redis carries the command out when nobody waits for it any longer.
  @Test
  void a_route_that_was_read_before_a_change_is_not_stored_by_a_redis_that_hung() {
    routes.forget(List.of(D1));
    redis.connection().sync().clientPause(3_000);

    assertThatThrownBy(() -> routes.putIfAbsent(Map.of(D1, route())))
        .isInstanceOf(RedisUnavailable.class);

    assertThat(redis.connection().sync().get("route:shop/d1")).isEmpty();
  }

  private DeviceRoute route() {
    return new DeviceRoute(
        D1.device(),
        Platform.ANDROID,
        true,
        null,
        new FcmToken("t", "token", clock.instant()),
        new WebPushSubscription("{\"endpoint\":\"https://a\"}", clock.instant()),
        new HmsToken("h", clock.instant()));
  }

  @Test
  void calls_fail_soon_without_redis_and_work_again_with_it() {
    services.kill9(Service.REDIS);
    assertThatThrownBy(() -> directory.owner(D1)).isInstanceOf(RedisUnavailable.class);

    services.restart(Service.REDIS);

    Eventually.within(Duration.ofSeconds(60), () -> assertThat(directory.owner(D1)).isEmpty());
  }

  private RedisLink open() {
    client.setOptions(
        ClientOptions.builder()
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .build());
    return RedisLink.open(client);
  }
}
