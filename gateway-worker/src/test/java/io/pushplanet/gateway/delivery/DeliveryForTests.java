package io.pushplanet.gateway.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.wire.DeadItem;
import io.pushplanet.gateway.RealServers;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.directory.DirectoryHealth;
import io.pushplanet.gateway.directory.DirectoryReturn;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.lane.Lanes;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.node.NodeSettings;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.order.Ticket;
import io.pushplanet.gateway.parcel.SettledBefore;
import io.pushplanet.gateway.provider.Provider;
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

/// The delivery as [DeliveryConfiguration] wires it, at real servers.
public final class DeliveryForTests {
  static final Duration ANSWER_WITHIN = Duration.ofMinutes(2);

  static final int MAX_ERRORS = 3;

  /// Connections to MySQL: fewer than the tests have.
  static final int POOL_SIZE = 10;

  private static final NodeSettings NODES =
      new NodeSettings("gateway", new Secret("x"), 16, ANSWER_WITHIN);

  private final Delivery delivery;
  private final Lanes lanes;
  private final OwedMoves owedMoves;
  private final DirectoryReturn directoryReturn;
  private final LaneConsumers consumers;
  private final Map<Priority, PutOffFetcher> fetchers = new EnumMap<>(Priority.class);

  private DeliveryForTests(Builder its) {
    DeliveryConfiguration wiring = new DeliveryConfiguration();
    DeliverySettings settings = new DeliverySettings(32, its.maxInFlight, MAX_ERRORS);
    DeliveryMetrics metrics = wiring.deliveryMetrics(its.meters);
    RetrySchedule retries = new RetrySchedule(new Random(1));
    DatabaseCircuitBreaker breaker = wiring.breaker();
    SettledBefore settledBefore = wiring.settledBefore(its.database, breaker);
    DeadTokens tokens =
        new DeadTokens(
            its.database,
            its.routes,
            new PurgeBreaker(its.clock),
            new Alerts(its.database, its.clock, its.meters),
            its.clock,
            its.meters);
    DirectoryHealth health = wiring.directoryHealth();
    MqttDelivery overMqtt =
        wiring.mqttDelivery(its.directory, health, its.nodes, NODES, retries, its.clock, metrics);
    directoryReturn = wiring.directoryReturn(its.directory, health, its.database, its.clock);
    MoveStore moves = wiring.moveStore(its.database, its.servers.lanes(), its.clock, metrics);
    Outboxes outboxes =
        wiring.outboxes(moves, its.servers.lanes(), retries, overMqtt, its.clock, metrics);
    lanes = new Lanes(its.providers, its.maxInFlight, POOL_SIZE, its.meters);
    delivery =
        wiring.delivery(
            lanes,
            overMqtt,
            wiring.providerDelivery(
                its.providers, settings, settledBefore, breaker, tokens, retries, its.clock),
            settledBefore,
            breaker,
            outboxes,
            its.database,
            its.clock,
            metrics);
    owedMoves = wiring.owedMoves(settledBefore, overMqtt, moves, outboxes, lanes);
    consumers =
        wiring.laneConsumers(
            its.servers.connections(),
            delivery,
            lanes,
            settings,
            its.servers.lanes(),
            new DeadLetters(its.servers.connections(), Clock.systemUTC(), its.meters),
            new SecureRandom(),
            its.meters);
    LaterStore later = new LaterStore(its.database);
    for (Priority priority : Priority.values()) {
      fetchers.put(priority, new PutOffFetcher(lanes.atProviders(priority), later, its.clock));
    }
  }

  /// What a test chooses; the rest is as most tests have it.
  public static final class Builder {
    private final RealServers servers;
    private final Nodes nodes;
    private final RouteStore routes;
    private final Clock clock;
    private final MeterRegistry meters;
    private SessionDirectory directory;
    private DataSource database;
    private int maxInFlight = 64;
    private List<Provider> providers = List.of();

    private Builder(
        RealServers servers, Nodes nodes, RouteStore routes, Clock clock, MeterRegistry meters) {
      this.servers = servers;
      this.nodes = nodes;
      this.routes = routes;
      this.clock = clock;
      this.meters = meters;
      this.directory = servers.sessions();
      this.database = servers.database();
    }

    Builder directory(SessionDirectory directory) {
      this.directory = directory;
      return this;
    }

    Builder database(DataSource database) {
      this.database = database;
      return this;
    }

    public Builder maxInFlight(int maxInFlight) {
      this.maxInFlight = maxInFlight;
      return this;
    }

    public Builder providers(Provider... providers) {
      this.providers = List.of(providers);
      return this;
    }

    public DeliveryForTests build() {
      return new DeliveryForTests(this);
    }
  }

  public static Builder at(
      RealServers servers, Nodes nodes, RouteStore routes, Clock clock, MeterRegistry meters) {
    return new Builder(servers, nodes, routes, clock, meters);
  }

  public static Nodes nodes(SessionDirectory directory, Clock clock, MeterRegistry meters) {
    return new Nodes(directory::nodes, NODES, clock, System::nanoTime, meters);
  }

  /// @see Delivery#deliver
  public List<DeadItem> deliver(Channel channel, byte[] body, boolean redelivered, Ticket ticket) {
    return delivery.deliver(channel, body, redelivered, ticket);
  }

  /// @see OwedMoves#write
  void writeOwed(byte[] body) {
    assertThat(owedMoves.write(body)).isEmpty();
  }

  /// @see DirectoryReturn#round
  void lookForDirectory() {
    directoryReturn.round();
  }

  /// @see Lanes#refuseStuck
  public void refuseStuck() {
    lanes.refuseStuck();
  }

  /// @see PutOffFetcher#fetch
  public void fetchPutOff(Priority priority) {
    Objects.requireNonNull(fetchers.get(priority)).fetch();
  }

  /// The lanes of priority `normal`, as the worker consumes them.
  public QueueConsumer normalLanes() {
    return consumers.of(Priority.NORMAL);
  }
}
