package io.pushplanet.gateway.delivery;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.session.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.lane.Lanes;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.node.NodeSettings;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.parcel.SettledBefore;
import io.pushplanet.gateway.parcel.WaitedFor;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.registration.Registrations;
import io.pushplanet.gateway.retry.RetrySchedule;
import io.pushplanet.gateway.token.DeadTokens;
import io.pushplanet.gateway.token.PurgeBreaker;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import javax.sql.DataSource;

/// The delivery as the worker wires it, at real servers.
public final class DeliveryForTests {
  static final Duration ANSWER_WITHIN = Duration.ofMinutes(2);

  static final int MAX_ERRORS = 3;

  /// Connections to MySQL: fewer than the tests have.
  static final int POOL_SIZE = 10;

  private final Delivery delivery;
  private final Lanes lanes;
  private final OwedMoves owedMoves;
  private final Map<Priority, DeferredFetcher> fetchers = new EnumMap<>(Priority.class);

  private DeliveryForTests(
      Delivery delivery, Lanes lanes, OwedMoves owedMoves, LaterStore later, Clock clock) {
    this.delivery = delivery;
    this.lanes = lanes;
    this.owedMoves = owedMoves;
    for (Priority priority : Priority.values()) {
      fetchers.put(priority, new DeferredFetcher(lanes.atProviders(priority), later, clock));
    }
  }

  /// @see Delivery#deliver
  public void deliver(Channel channel, byte[] body, boolean redelivered, Ticket ticket) {
    delivery.deliver(channel, body, redelivered, ticket);
  }

  /// @see OwedMoves#write
  void writeOwed(byte[] body) {
    owedMoves.write(body);
  }

  /// @see Lanes#refuseStuck
  public void refuseStuck() {
    lanes.refuseStuck();
  }

  /// @see DeferredFetcher#fetch
  public void fetchDeferred(Priority priority) {
    Objects.requireNonNull(fetchers.get(priority)).fetch();
  }

  public static Nodes nodes(SessionDirectory directory, Clock clock, MeterRegistry meters) {
    return new Nodes(
        directory::nodes,
        new NodeSettings("gateway", new Secret("x"), 16, ANSWER_WITHIN),
        clock,
        System::nanoTime,
        meters);
  }

  public static DeliveryForTests at(
      RealServers servers,
      SessionDirectory directory,
      Nodes nodes,
      RouteStore routes,
      Clock clock,
      MeterRegistry meters,
      Provider... providers) {
    return at(servers, directory, nodes, routes, clock, meters, 64, List.of(providers));
  }

  public static DeliveryForTests at(
      RealServers servers,
      SessionDirectory directory,
      Nodes nodes,
      RouteStore routes,
      Clock clock,
      MeterRegistry meters,
      int maxInFlight,
      List<Provider> providers) {
    return at(
        servers,
        servers.database(),
        directory,
        nodes,
        routes,
        clock,
        meters,
        maxInFlight,
        providers);
  }

  static DeliveryForTests at(
      RealServers servers,
      DataSource database,
      SessionDirectory directory,
      Nodes nodes,
      RouteStore routes,
      Clock clock,
      MeterRegistry meters,
      int maxInFlight,
      List<Provider> providers) {
    DeliveryMetrics metrics = new DeliveryMetrics(meters);
    RetrySchedule retries = new RetrySchedule(new Random(1));
    DatabaseCircuitBreaker breaker = new DatabaseCircuitBreaker(System::nanoTime);
    SettledBefore settledBefore = new SettledBefore(database, breaker);
    DeadTokens tokens =
        new DeadTokens(
            database,
            routes,
            new PurgeBreaker(clock),
            new Alerts(database, clock, meters),
            clock,
            meters);
    LaterStore later = new LaterStore(database);
    Lanes lanes = new Lanes(providers, maxInFlight, POOL_SIZE, meters);
    MqttDelivery overMqtt =
        new MqttDelivery(
            new NodeDelivery(directory, nodes, ANSWER_WITHIN, clock, metrics), retries);
    Outboxes outboxes =
        new Outboxes(
            new MoveStore(
                new InboxStore(database, servers.lanes(), clock),
                later,
                new DatabaseCircuitBreaker(System::nanoTime),
                metrics),
            servers.lanes(),
            retries,
            clock,
            metrics,
            overMqtt::lookIntoInbox);
    Delivery delivery =
        new Delivery(
            lanes,
            overMqtt,
            new ProviderDelivery(
                providers,
                new ProviderOutcomes(tokens, breaker, retries, MAX_ERRORS, clock),
                settledBefore),
            settledBefore,
            new WaitedFor(new Registrations(database), breaker),
            outboxes,
            clock,
            metrics);
    OwedMoves owedMoves =
        new DeliveryConfiguration().owedMoves(settledBefore, overMqtt, outboxes, lanes);
    return new DeliveryForTests(delivery, lanes, owedMoves, later, clock);
  }

  /// The lanes of priority `normal`, as the worker consumes them.
  public QueueConsumer normalLanes(RealServers servers, int maxInFlight, MeterRegistry meters) {
    return new LaneConsumers(
            servers.connections(),
            delivery,
            lanes,
            new DeliverySettings(32, maxInFlight, MAX_ERRORS),
            servers.lanes(),
            new DeadLetters(servers.connections(), Clock.systemUTC()),
            new SecureRandom(),
            meters)
        .of(Priority.NORMAL);
  }
}
