package io.pushplanet.gateway.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.node.FakeNode;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.Provider;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// For tests of the delivery to devices: real servers, and a node that answers what a test says.
abstract class NodeScene {
  static final String APP = "node-scene";
  static final Duration PATIENCE = Duration.ofSeconds(60);

  final Clock clock = Clock.systemUTC();
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final ExecutorService lane = Executors.newVirtualThreadPerTaskExecutor();
  RealServers servers;
  private RedisClient redis;
  FakeNode node;
  Nodes nodes;
  DeliveryForTests delivery;

  /// The vendors that messages can fall back to.
  Provider[] providers() {
    return new Provider[0];
  }

  @BeforeEach
  void start() throws Exception {
    servers = new RealServers();
    for (String table :
        List.of("inbox", "later", "deliveries", "messages", "broadcasts", "broadcast_devices")) {
      servers.sql().update("DELETE FROM " + table);
    }
    redis = RedisClient.create(servers.services().redis().toString());
    node = new FakeNode("node-" + System.nanoTime());
    servers.sessions().heartbeat(node.lease(clock.instant().plusSeconds(300)));
    nodes = DeliveryForTests.nodes(servers.sessions(), clock, meters);
    delivery = deliveryAt(servers.database());
  }

  /// Another worker, with this MySQL.
  DeliveryForTests deliveryAt(DataSource database) {
    return deliveryAt(database, nodes);
  }

  DeliveryForTests deliveryAt(DataSource database, Nodes nodes) {
    return builder(nodes).database(database).build();
  }

  /// Another worker, with this directory.
  DeliveryForTests deliveryAt(SessionDirectory directory) {
    return builder(nodes).directory(directory).build();
  }

  private DeliveryForTests.Builder builder(Nodes nodes) {
    return DeliveryForTests.at(servers, nodes, new RouteStore(RedisLink.open(redis)), clock, meters)
        .providers(providers());
  }

  @AfterEach
  void close() {
    lane.shutdownNow();
    nodes.close();
    node.close();
    redis.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
  }

  void connect(String device) {
    servers.connect(APP, device, node.lease(clock.instant()).node());
  }

  void deliver(Channel channel, Push... pushes) throws Exception {
    delivering(channel, pushes).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  /// @return done when the batch is done
  Future<?> delivering(Channel channel, Push... pushes) {
    return delivering(channel, false, Ticket.ofNoOrder(), pushes);
  }

  Future<?> delivering(Channel channel, boolean redelivered, Ticket ticket, Push... pushes) {
    byte[] batch = DeliveryScene.batch(pushes);
    return lane.submit(() -> {
      try {
        assertThat(delivery.deliver(channel, batch, redelivered, ticket)).isEmpty();
      } finally {
        ticket.pass();
      }
    });
  }

  /// The devices for which messages wait.
  List<String> inbox() {
    return servers.sql().queryForList("SELECT device_id FROM inbox", String.class);
  }
}
