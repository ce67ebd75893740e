package io.pushplanet.gateway.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.Urgency;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.provider.Provider;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/// For tests of the delivery: real servers, providers that answer what a test says, and a clock
/// that is moved by hand.
abstract class DeliveryScene {
  static final String APP = "delivery-it";

  final MutableClock clock = new MutableClock(Instant.now().truncatedTo(ChronoUnit.MILLIS));
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  final ScriptedProvider fcm = new ScriptedProvider(Channel.FCM);
  final ScriptedProvider apns = new ScriptedProvider(Channel.APNS);
  final ScriptedProvider hms = new ScriptedProvider(Channel.HMS);
  final RealServers servers = RealServers.start();
  private final RedisClient redis = RedisClient.create(servers.services().redis().toString());
  final RouteStore routes = new RouteStore(RedisLink.open(redis));
  final Nodes nodes = DeliveryForTests.nodes(servers.sessions(), clock, meters);
  final DeliveryForTests delivery = delivery(fcm, apns, hms);

  @BeforeEach
  void empty() {
    for (String table :
        List.of("inbox", "later", "deliveries", "messages", "devices", "channel_tokens")) {
      servers.sql().update("DELETE FROM " + table);
    }
  }

  @AfterEach
  void close() {
    nodes.close();
    redis.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
  }

  DeliveryForTests delivery(Provider... providers) {
    return DeliveryForTests.at(servers, nodes, routes, clock, meters).providers(providers).build();
  }

  /// A device with one token.
  void registered(String device, String channel, String kind, String token, Instant at) {
    servers.register(APP, device, channel, kind, token, at);
  }

  void deliver(Channel channel, Push... pushes) {
    assertThat(delivery.deliver(channel, batch(pushes), false, Ticket.ofNoOrder())).isEmpty();
  }

  static byte[] batch(Push... pushes) {
    return WireForm.join(Arrays.stream(pushes).map(WireForm::write).toList());
  }

  /// The events since the last call.
  <T extends DeliveryEvent> List<T> events(Class<T> type) throws Exception {
    return servers.drain(Topology.EVENTS, DeliveryEvent.class).stream()
        .filter(type::isInstance)
        .map(type::cast)
        .toList();
  }

  static DeliveryOptions options(Route route, Duration ttl, @Nullable String collapseKey) {
    return new DeliveryOptions(route, ttl, Urgency.HIGH, collapseKey, Duration.ofSeconds(5));
  }
}
