package io.pushplanet.gateway.delivery;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.settings.PlatformSettings;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.database.DatabaseCircuitBreaker;
import io.pushplanet.gateway.directory.DirectoryHealth;
import io.pushplanet.gateway.directory.DirectoryReturn;
import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.lane.Lanes;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.node.NodeSettings;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.parcel.NewestWins;
import io.pushplanet.gateway.parcel.SettledBefore;
import io.pushplanet.gateway.parcel.WaitedFor;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.registration.Registrations;
import io.pushplanet.gateway.retry.RetrySchedule;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import io.pushplanet.gateway.time.SteadyClock;
import io.pushplanet.gateway.token.DeadTokens;
import io.pushplanet.gateway.token.PurgeBreaker;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({DeliverySettings.class, NodeSettings.class})
@ForRole(Role.DELIVER)
class DeliveryConfiguration {
  private static final Duration REFUSE_EVERY = Duration.ofMillis(100);
  private static final int OWED_IN_HAND = 4;

  @Bean(destroyMethod = "close")
  Nodes nodes(
      SessionDirectory directory, NodeSettings settings, Clock clock, MeterRegistry meters) {
    return new Nodes(directory::nodes, settings, clock, System::nanoTime, meters);
  }

  @Bean
  DeadTokens tokens(
      DataSource database,
      RouteStore routes,
      RedisLink redis,
      CredentialCache credentials,
      Alerts alerts,
      Clock clock,
      MeterRegistry meters) {
    DeadTokens tokens =
        new DeadTokens(
            database,
            routes,
            new PurgeBreaker(new SteadyClock(clock), redis),
            alerts,
            clock,
            meters);
    credentials.onChange(tokens::credentialsChanged);
    return tokens;
  }

  @Bean
  Lanes lanes(
      List<Provider> providers,
      DeliverySettings settings,
      PlatformSettings platform,
      MeterRegistry meters) {
    return new Lanes(providers, settings.maxInFlight(), platform.mysql().poolSize(), meters);
  }

  @Bean
  DeliveryMetrics deliveryMetrics(MeterRegistry meters) {
    return new DeliveryMetrics(meters);
  }

  @Bean
  RetrySchedule retrySchedule(SecureRandom random) {
    return new RetrySchedule(random);
  }

  /// For queries that a delivery can do without; writes have a breaker of their own.
  @Bean
  DatabaseCircuitBreaker breaker() {
    return new DatabaseCircuitBreaker(System::nanoTime);
  }

  @Bean
  SettledBefore settledBefore(DataSource database, DatabaseCircuitBreaker breaker) {
    return new SettledBefore(database, breaker);
  }

  @Bean
  DirectoryHealth directoryHealth() {
    return new DirectoryHealth();
  }

  @Bean
  DirectoryReturn directoryReturn(
      SessionDirectory directory, DirectoryHealth health, DataSource database, Clock clock) {
    return new DirectoryReturn(
        directory,
        health,
        new LaterStore(database),
        List.of(NodeDelivery.DIRECTORY_UNAVAILABLE, Outbox.DRAIN_FAILED),
        clock);
  }

  /// Rests while the broker takes nothing: a message could not get back to its lane.
  @Bean
  PeriodicTask returnsFromDirectory(
      DirectoryReturn directory, LanePublisher publisher, MeterRegistry meters) {
    return new PeriodicTask(
        "directory-return",
        DirectoryReturn.EVERY,
        publisher::takesNothing,
        () -> {
          directory.round();
          return false;
        },
        meters);
  }

  @Bean
  MqttDelivery mqttDelivery(
      SessionDirectory directory,
      DirectoryHealth health,
      Nodes nodes,
      NodeSettings settings,
      RetrySchedule retries,
      Clock clock,
      DeliveryMetrics metrics) {
    return new MqttDelivery(
        new NodeDelivery(directory, health, nodes, settings.answerWithin(), clock, metrics),
        retries);
  }

  @Bean
  ProviderDelivery providerDelivery(
      List<Provider> providers,
      DeliverySettings settings,
      SettledBefore settledBefore,
      DatabaseCircuitBreaker breaker,
      DeadTokens tokens,
      RetrySchedule retries,
      Clock clock) {
    return new ProviderDelivery(
        providers,
        new ProviderOutcomes(tokens, breaker, retries, settings.maxErrors(), clock),
        settledBefore);
  }

  @Bean
  MoveStore moveStore(
      DataSource database, LanePublisher publisher, Clock clock, DeliveryMetrics metrics) {
    return new MoveStore(
        new InboxStore(database, publisher, clock),
        new LaterStore(database),
        new DatabaseCircuitBreaker(System::nanoTime),
        metrics);
  }

  @Bean
  Outboxes outboxes(
      MoveStore moves,
      LanePublisher publisher,
      RetrySchedule retries,
      MqttDelivery overMqtt,
      Clock clock,
      DeliveryMetrics metrics) {
    return new Outboxes(moves, publisher, retries, clock, metrics, overMqtt::lookIntoInbox);
  }

  @Bean
  Delivery delivery(
      Lanes lanes,
      MqttDelivery overMqtt,
      ProviderDelivery overProviders,
      SettledBefore settledBefore,
      DatabaseCircuitBreaker breaker,
      Outboxes outboxes,
      DataSource database,
      Clock clock,
      DeliveryMetrics metrics) {
    return new Delivery(
        lanes,
        overMqtt,
        overProviders,
        settledBefore,
        new NewestWins(database, breaker),
        new WaitedFor(new Registrations(database), breaker),
        outboxes,
        clock,
        metrics);
  }

  @Bean
  OwedMoves owedMoves(
      SettledBefore settledBefore,
      MqttDelivery overMqtt,
      MoveStore moves,
      Outboxes outboxes,
      Lanes lanes) {
    return new OwedMoves(
        settledBefore,
        overMqtt,
        moves,
        outboxes,
        lanes.lane(Channel.MQTT, Priority.NORMAL).databasePermits());
  }

  /// Stops after the lanes: while they stop, requests may still wait for permits.
  @Bean
  PeriodicTask refusesStuck(Lanes lanes, MeterRegistry meters) {
    return new PeriodicTask(
            "places",
            REFUSE_EVERY,
            () -> {
              lanes.refuseStuck();
              return false;
            },
            meters)
        .stoppingLast();
  }

  @Bean
  PutOffFetchers putOffFetchers(
      Lanes lanes,
      DataSource database,
      LanePublisher publisher,
      Clock clock,
      MeterRegistry meters) {
    return new PutOffFetchers(lanes, new LaterStore(database), publisher, clock, meters);
  }

  @Bean
  PeriodicTask fetchesHigh(PutOffFetchers all) {
    return all.of(Priority.HIGH);
  }

  @Bean
  PeriodicTask fetchesNormal(PutOffFetchers all) {
    return all.of(Priority.NORMAL);
  }

  @Bean
  LaneConsumers laneConsumers(
      ConnectionFactory connections,
      Delivery delivery,
      Lanes lanes,
      DeliverySettings settings,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    return new LaneConsumers(
        connections, delivery, lanes, settings, publisher, deadLetters, random, meters);
  }

  /// The lanes of high priority have a connection of their own, so that they never wait behind
  /// normal ones.
  @Bean
  QueueConsumer highLanes(LaneConsumers all) {
    return all.of(Priority.HIGH);
  }

  @Bean
  QueueConsumer normalLanes(LaneConsumers all) {
    return all.of(Priority.NORMAL);
  }

  /// While MySQL is away its messages go round and round, which holds up no other queue.
  @Bean
  QueueConsumer owedQueue(
      ConnectionFactory connections,
      OwedMoves owedMoves,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    return new QueueConsumer(
        connections,
        "owed",
        List.of(
            new Subscription(Topology.OWED, OWED_IN_HAND, (body, _, _) -> owedMoves.write(body))),
        publisher::takesNothing,
        deadLetters,
        random,
        meters);
  }
}
