package io.pushplanet.gateway.provider;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.message.Push;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.delivery.DeliveryForTests;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.later.DueRows;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

/// The delivery, wired as in the worker, with the providers of a [ProviderPlatform], which it
/// closes with itself.
final class ProviderWorker implements AutoCloseable {
  final ProviderPlatform platform;
  final RealServers servers;
  private final Clock clock;
  private final RedisClient redis;
  private final Nodes nodes;
  private final DeliveryForTests delivery;
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

  ProviderWorker(ProviderPlatform platform, Clock clock, Channel... channels) throws Exception {
    this(platform, clock, 64, channels);
  }

  ProviderWorker(ProviderPlatform platform, Clock clock, int maxInFlight, Channel... channels)
      throws Exception {
    this.platform = platform;
    this.clock = clock;
    servers = new RealServers();
    redis = RedisClient.create(servers.services().redis().toString());
    nodes = DeliveryForTests.nodes(servers.sessions(), clock, meters);
    delivery =
        DeliveryForTests.at(servers, nodes, new RouteStore(RedisLink.open(redis)), clock, meters)
            .maxInFlight(maxInFlight)
            .providers(Arrays.stream(channels).map(platform::provider).toArray(Provider[]::new))
            .build();
  }

  void deliver(Channel channel, Push push) {
    assertThat(
            delivery.deliver(
                channel, WireForm.join(List.of(WireForm.write(push))), false, Ticket.ofNoOrder()))
        .isEmpty();
  }

  /// The lanes of priority `normal`, not started.
  QueueConsumer normalLanes() {
    return delivery.normalLanes();
  }

  /// The worker's tasks besides its lanes of priority `normal`: they refuse requests that wait in
  /// vain for a permit, and fetch messages from `later`. Not started.
  List<PeriodicTask> tasks() {
    DueRows due = new DueRows(servers.database(), servers.lanes()::publishAndWait, clock);
    return List.of(
        new PeriodicTask(
            "places",
            Duration.ofMillis(100),
            () -> {
              delivery.refuseStuck();
              return false;
            },
            meters),
        new PeriodicTask(
            "forward",
            Duration.ofMillis(100),
            () -> {
              delivery.fetchPutOff(Priority.NORMAL);
              return false;
            },
            meters),
        new PeriodicTask(
            "due-lane", Duration.ofMillis(250), () -> due.bringBack() >= DueRows.MAX_ROWS, meters));
  }

  @Override
  public void close() {
    nodes.close();
    redis.shutdown(Duration.ZERO, Duration.ofSeconds(2));
    servers.close();
    platform.close();
  }
}
