package io.pushplanet.quickstart.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.Platform;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.HmsToken;
import io.pushplanet.common.message.target.WebPushSubscription;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DeviceRoute;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.NodeLease;
import io.pushplanet.common.session.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.quickstart.services.Service;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SessionDirectoryIT {
  private static final NodeId NODE_A = new NodeId("node-a");
  private static final NodeId NODE_B = new NodeId("node-b");
  private static final DeviceKey D1 = new DeviceKey(new AppId("shop"), new DeviceId("d1"));

  private final LocalServices services = LocalServices.forTests();
  private final MutableClock clock = MutableClock.started();
  private final RedisClient client = RedisClient.create(services.redis().toString());
  private final StatefulRedisConnection<String, String> connection = connect();
  private final SessionDirectory directory = new SessionDirectory(connection, clock);
  private final RouteStore routes = new RouteStore(connection);

  @BeforeEach
  void empty() {
    connection.sync().flushall();
  }

  @AfterEach
  void close() {
    client.shutdown(Duration.ZERO, Duration.ofSeconds(2));
  }

  @Test
  void who_connects_later_owns_the_device() {
    long first = directory.claim(D1, NODE_A).epoch();
    long second = directory.claim(D1, NODE_B).epoch();

    assertThat(second).isGreaterThan(first);
    assertThat(directory.owner(D1)).contains(new SessionOwner(NODE_B, second));
  }

  @Test
  void whoever_loses_a_device_is_told_by_the_claim_itself() throws Exception {
    var heard = new LinkedBlockingQueue<TakeoverNotices.Notice>();
    var listening = new CountDownLatch(1);
    try (var notices = TakeoverNotices.listen(client, NODE_A, heard::add, listening::countDown)) {
      assertThat(notices).isNotNull();
      assertThat(listening.await(60, TimeUnit.SECONDS)).isTrue();
      var first = directory.claim(D1, NODE_A);
      var again = directory.claim(D1, NODE_A);

      var taken = directory.claim(D1, NODE_B);

      assertThat(first.former()).isEmpty();
      assertThat(again.former()).contains(new SessionOwner(NODE_A, first.epoch()));
      assertThat(taken.former()).contains(new SessionOwner(NODE_A, again.epoch()));
      assertThat(heard.poll(60, TimeUnit.SECONDS))
          .isEqualTo(new TakeoverNotices.Notice(D1, new SessionOwner(NODE_B, taken.epoch())));
      assertThat(heard).isEmpty();
    }
  }

  @Test
  void whoever_is_outdone_by_an_announcement_is_told_too() throws Exception {
    var heard = new LinkedBlockingQueue<TakeoverNotices.Notice>();
    var listening = new CountDownLatch(1);
    try (var notices = TakeoverNotices.listen(client, NODE_A, heard::add, listening::countDown)) {
      assertThat(notices).isNotNull();
      assertThat(listening.await(60, TimeUnit.SECONDS)).isTrue();
      long epoch = directory.claim(D1, NODE_A).epoch();

      directory.announce(Map.of(D1, epoch), NODE_B);
      directory.announce(Map.of(D1, epoch + 1), NODE_B);

      assertThat(heard.poll(60, TimeUnit.SECONDS))
          .isEqualTo(new TakeoverNotices.Notice(D1, new SessionOwner(NODE_B, epoch + 1)));
      assertThat(heard).isEmpty();
    }
  }

  @Test
  void a_late_release_of_the_former_owner_changes_nothing() {
    long first = directory.claim(D1, NODE_A).epoch();
    long second = directory.claim(D1, NODE_B).epoch();

    directory.release(D1, NODE_A, first);
    assertThat(directory.owner(D1)).contains(new SessionOwner(NODE_B, second));

    directory.release(D1, NODE_B, second);
    assertThat(directory.owner(D1)).isEmpty();
  }

  @Test
  void after_a_loss_of_redis_nodes_announce_and_the_newest_session_wins() {
    long first = directory.claim(D1, NODE_A).epoch();
    clock.advance(Duration.ofSeconds(1));
    long second = directory.claim(D1, NODE_B).epoch();
    connection.sync().flushall();

    directory.announce(Map.of(D1, second), NODE_B);
    Map<DeviceKey, SessionOwner> toldToA = directory.announce(Map.of(D1, first), NODE_A);

    assertThat(toldToA).containsEntry(D1, new SessionOwner(NODE_B, second));
    assertThat(directory.owner(D1)).contains(new SessionOwner(NODE_B, second));
  }

  @Test
  void an_epoch_rises_over_a_loss_of_redis() {
    long before = directory.claim(D1, NODE_A).epoch();
    connection.sync().flushall();
    clock.advance(Duration.ofMillis(1));

    assertThat(directory.claim(D1, NODE_B).epoch()).isGreaterThan(before);
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
  void a_lease_that_nobody_can_read_hides_no_other() {
    NodeLease lease =
        new NodeLease(NODE_A, "127.0.0.1", 1884, 1883, 9083, 7, false, clock.instant());
    directory.heartbeat(lease);

    connection.sync().hset("nodes", "rubbish", "not JSON");
    connection.sync().hset("nodes", "other-form", "{\"node\":\"other-form\"}");

    assertThat(directory.nodes()).containsExactly(lease);
  }

  @Test
  void a_route_comes_back_as_it_was_until_it_is_forgotten() {
    DeviceRoute route =
        new DeviceRoute(
            D1.device(),
            Platform.ANDROID,
            true,
            null,
            new FcmToken("t", "token", clock.instant()),
            new WebPushSubscription("{\"endpoint\":\"https://a\"}", clock.instant()),
            new HmsToken("h", clock.instant()));
    DeviceKey unknown = new DeviceKey(D1.app(), new DeviceId("d2"));
    routes.put(Map.of(D1, route));

    assertThat(routes.find(List.of(D1, unknown))).containsExactly(Map.entry(D1, route));

    routes.forget(List.of(D1));
    assertThat(routes.find(List.of(D1))).isEmpty();
  }

  @Test
  void while_redis_is_away_calls_fail_soon_and_work_again_when_it_is_back() {
    services.kill9(Service.REDIS);
    assertThatThrownBy(() -> directory.claim(D1, NODE_A)).isInstanceOf(DirectoryUnavailable.class);

    services.restart(Service.REDIS);

    Eventually.within(
        Duration.ofSeconds(60), () -> assertThat(directory.claim(D1, NODE_A).epoch()).isPositive());
  }

  private StatefulRedisConnection<String, String> connect() {
    client.setOptions(
        ClientOptions.builder()
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .build());
    return client.connect();
  }
}
