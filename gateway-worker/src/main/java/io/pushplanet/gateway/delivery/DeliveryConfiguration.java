package io.pushplanet.gateway.delivery;

import com.rabbitmq.client.ConnectionFactory;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.lane.LanePublisher;
import io.pushplanet.common.lane.Topology;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.settings.PlatformSettings;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.inbox.InboxStore;
import io.pushplanet.gateway.intake.DeadLetters;
import io.pushplanet.gateway.intake.QueueConsumer;
import io.pushplanet.gateway.intake.Subscription;
import io.pushplanet.gateway.lane.Lanes;
import io.pushplanet.gateway.later.LaterStore;
import io.pushplanet.gateway.node.NodeSettings;
import io.pushplanet.gateway.node.Nodes;
import io.pushplanet.gateway.parcel.Reachability;
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
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties({DeliverySettings.class, NodeSettings.class})
@ForRole(Role.DELIVER)
class DeliveryConfiguration {
  private static final Duration LOOK = Duration.ofMillis(100);
  private static final Duration FORWARD = Duration.ofMillis(100);
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
  Delivery delivery(
      List<Provider> providers,
      DeliverySettings settings,
      NodeSettings nodeSettings,
      PlatformSettings platform,
      SessionDirectory directory,
      Nodes nodes,
      DataSource database,
      LanePublisher lanes,
      DeadTokens tokens,
      SecureRandom random,
      Clock clock,
      MeterRegistry meters) {
    DeliveryMetrics metrics = new DeliveryMetrics(meters);
    RetrySchedule retries = new RetrySchedule(random);
    Reachability reachability = new Reachability(System::nanoTime);
    SettledBefore settledBefore = new SettledBefore(database, reachability);
    LaterStore later = new LaterStore(database);
    return new Delivery(
        new Lanes(providers, settings.mostInFlight(), platform.mysql().poolSize(), meters),
        new MqttDelivery(
            new NodeDelivery(directory, nodes, nodeSettings.answerWithin(), clock, metrics),
            retries),
        new ProviderDelivery(
            providers,
            new ProviderOutcomes(tokens, reachability, retries, settings.mostErrors(), clock),
            settledBefore),
        settledBefore,
        new WaitedFor(new Registrations(database), reachability),
        new Outboxes(
            new MoveStore(
                new InboxStore(database, lanes, clock),
                later,
                new Reachability(System::nanoTime),
                metrics),
            lanes,
            retries,
            clock,
            metrics),
        later,
        clock,
        metrics);
  }

  /// Goes on until the lanes have stopped: who waits for a place is waited for.
  @Bean
  PeriodicTask looksAtPlaces(Delivery delivery, MeterRegistry meters) {
    return new PeriodicTask(
            "places",
            LOOK,
            () -> {
              delivery.look();
              return false;
            },
            meters)
        .stoppingLast();
  }

  @Bean
  PeriodicTask bringsHighForward(Delivery delivery, LanePublisher publisher, MeterRegistry meters) {
    return bringsForward(Priority.HIGH, delivery, publisher, meters);
  }

  @Bean
  PeriodicTask bringsNormalForward(
      Delivery delivery, LanePublisher publisher, MeterRegistry meters) {
    return bringsForward(Priority.NORMAL, delivery, publisher, meters);
  }

  /// While the broker takes nothing, nobody comes.
  private static PeriodicTask bringsForward(
      Priority priority, Delivery delivery, LanePublisher publisher, MeterRegistry meters) {
    return new PeriodicTask(
        priority == Priority.HIGH ? "forward-high" : "forward-normal",
        FORWARD,
        publisher::takesNothing,
        () -> {
          delivery.bringForward(priority);
          return false;
        },
        meters);
  }

  /// High lanes have a connection of their own, so that they never wait behind normal ones.
  @Bean
  QueueConsumer highLanes(
      ConnectionFactory connections,
      Delivery delivery,
      DeliverySettings settings,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    return lanes(
        Priority.HIGH, connections, delivery, settings, publisher, deadLetters, random, meters);
  }

  @Bean
  QueueConsumer normalLanes(
      ConnectionFactory connections,
      Delivery delivery,
      DeliverySettings settings,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    return lanes(
        Priority.NORMAL, connections, delivery, settings, publisher, deadLetters, random, meters);
  }

  /// Goes round while MySQL is away, which costs nobody but itself.
  @Bean
  QueueConsumer owedMoves(
      ConnectionFactory connections,
      Delivery delivery,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    return new QueueConsumer(
        connections,
        "owed",
        List.of(
            new Subscription(
                Topology.OWED, OWED_IN_HAND, (body, _, _) -> delivery.writeOwed(body))),
        publisher::takesNothing,
        deadLetters,
        random,
        meters);
  }

  private static QueueConsumer lanes(
      Priority priority,
      ConnectionFactory connections,
      Delivery delivery,
      DeliverySettings settings,
      LanePublisher publisher,
      DeadLetters deadLetters,
      SecureRandom random,
      MeterRegistry meters) {
    List<Subscription> lanes = new ArrayList<>();
    for (Channel channel : Channel.values()) {
      lanes.add(
          new Subscription(
              Topology.lane(channel, priority),
              settings.prefetch(),
              settings.mostInFlight(),
              () -> delivery.room(channel, priority),
              (body, redelivered, ticket) -> delivery.deliver(channel, body, redelivered, ticket)));
    }
    String name = priority == Priority.HIGH ? "deliver-high" : "deliver-normal";
    // What a provider has answered and nobody can be told would go out again and again.
    return new QueueConsumer(
        connections, name, lanes, publisher::takesNothing, deadLetters, random, meters);
  }
}
