package io.pushplanet.gateway.delivery;

import static io.pushplanet.common.testing.PushBuilder.aPush;
import static io.pushplanet.common.testing.PushBuilder.recipient;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.delivery.DeliveryState;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.device.DeviceList;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.target.FcmToken;
import io.pushplanet.common.message.target.Recipient;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import io.pushplanet.gateway.database.DatabasePermits;
import io.pushplanet.gateway.order.Ticket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/// One message for very many devices, of which some are away, and a node that dies while it
/// delivers.
class BroadcastDeliveryIT extends NodeScene {
  private static final int CONNECTED = 200;
  private static final int ACKNOWLEDGED = 150;
  private static final int RECIPIENTS = 300;
  private static final int WITH_VENDOR = 10;

  @BeforeEach
  void connect() {
    for (int number = 0; number < CONNECTED; number++) {
      connect(device(number).value());
    }
  }

  @Test
  void each_device_gets_an_outcome_when_the_node_dies_in_the_middle() throws Exception {
    for (int number = 0; number < ACKNOWLEDGED; number++) {
      node.answer(device(number).value(), Result.DELIVERED);
    }

    var delivering = delivering(Channel.MQTT, push());
    Eventually.within(
        Duration.ofSeconds(30), () -> assertThat(node.broadcasts()).containsExactly(CONNECTED));
    Eventually.within(
        Duration.ofSeconds(30),
        () ->
            assertThat(
                    servers
                        .sql()
                        .queryForObject("SELECT COUNT(*) FROM broadcast_devices", Integer.class))
                .isPositive());
    node.close();
    delivering.get(60, TimeUnit.SECONDS);

    var delivered = new TreeSet<DeviceId>();
    for (var event : servers.drain(Topology.EVENTS, DeliveryEvent.class)) {
      if (event instanceof DeliveryEvent.Ended ended) {
        assertThat(ended.state()).isEqualTo(DeliveryState.DELIVERED);
        assertThat(delivered.add(ended.device())).isTrue();
      }
    }
    var byVendor = new TreeSet<DeviceId>();
    servers
        .drain("push.fcm.high", Push.class)
        .forEach(push -> push.recipients().forEach(to -> byVendor.add(to.device())));
    var waiting = new ArrayList<DeviceId>();
    servers
        .sql()
        .queryForList("SELECT devices FROM broadcast_devices", String.class)
        .forEach(text -> waiting.addAll(new DeviceList(text).devices()));
    inbox().forEach(device -> waiting.add(new DeviceId(device)));

    assertThat(byVendor).hasSize(WITH_VENDOR);
    assertThat(waiting).doesNotHaveDuplicates().doesNotContainAnyElementsOf(byVendor);
    assertThat(delivered).doesNotContainAnyElementsOf(waiting);
    assertThat(delivered.size() + byVendor.size() + waiting.size()).isEqualTo(RECIPIENTS);
  }

  @Test
  void a_cancelled_broadcast_on_the_lane_ends_for_all_devices() throws Exception {
    Push push = push();
    servers.cancel(push);

    deliver(Channel.MQTT, push);

    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .hasSize(RECIPIENTS)
        .allSatisfy(event ->
            assertThat(event)
                .isInstanceOfSatisfying(
                    DeliveryEvent.Ended.class,
                    ended -> assertThat(ended.state()).isEqualTo(DeliveryState.CANCELLED)));
    assertThat(node.broadcasts()).isEmpty();
  }

  @Test
  void cancelled_broadcasts_wait_for_a_hanging_database_and_none_goes_out() throws Exception {
    int permits = DatabasePermits.most(DeliveryForTests.POOL_SIZE);
    List<Push> broadcasts = new ArrayList<>();
    for (int i = 0; i < 2 * permits + 2; i++) {
      Push push = push();
      servers.cancel(push);
      broadcasts.add(push);
    }
    List<Thread> batches = new ArrayList<>();
    try (Connection connection = ownConnection()) {
      JdbcTemplate own = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
      own.execute("LOCK TABLES messages WRITE");

      for (Push push : broadcasts) {
        byte[] batch = DeliveryScene.batch(push);
        Channel channel = batches.size() % 2 == 0 ? Channel.MQTT : Channel.FCM;
        // To the JVM, a thread that waits for the database is running; only a platform thread shows
        // that.
        batches.add(
            Thread.ofPlatform()
                .start(() -> delivery.deliver(channel, batch, false, Ticket.ofNoOrder())));
      }

      Eventually.within(
          Duration.ofSeconds(30),
          () -> {
            assertThat(asking(own)).isEqualTo(permits);
            assertThat(batches)
                .filteredOn(batch -> batch.getState() == Thread.State.WAITING)
                .hasSize(broadcasts.size() - permits);
          });
    }
    for (Thread batch : batches) {
      batch.join();
    }

    assertThat(servers.drain(Topology.EVENTS, DeliveryEvent.class))
        .hasSize(broadcasts.size() * RECIPIENTS)
        .allSatisfy(event ->
            assertThat(event)
                .isInstanceOfSatisfying(
                    DeliveryEvent.Ended.class,
                    ended -> assertThat(ended.state()).isEqualTo(DeliveryState.CANCELLED)));
    assertThat(node.broadcasts()).isEmpty();
  }

  private static int asking(JdbcTemplate sql) {
    return Objects.requireNonNull(
        sql.queryForObject(
            "SELECT COUNT(*) FROM information_schema.processlist"
                + " WHERE state LIKE 'Waiting for table%' AND info LIKE '%FROM messages%'",
            Integer.class));
  }

  /// A connection outside the delivery's pool.
  private Connection ownConnection() throws Exception {
    return DriverManager.getConnection(
        servers.services().mysql().jdbcUrl(),
        servers.services().mysql().user(),
        servers.services().mysql().password());
  }

  private Push push() {
    List<Recipient> recipients = new ArrayList<>();
    for (int number = 0; number < RECIPIENTS; number++) {
      // Some of the connected devices that do not acknowledge can be reached another way.
      boolean vendor = number >= ACKNOWLEDGED && number < ACKNOWLEDGED + WITH_VENDOR;
      recipients.add(
          recipient(
              device(number),
              true,
              vendor ? new FcmToken("t" + number, "token", clock.instant()) : null));
    }
    return aPush(clock).from(APP).build().to(recipients);
  }

  private static DeviceId device(int number) {
    return new DeviceId("d%05d".formatted(number));
  }
}
