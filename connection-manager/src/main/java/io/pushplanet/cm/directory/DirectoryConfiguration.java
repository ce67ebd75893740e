package io.pushplanet.cm.directory;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.inbox.Inbox;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionNotices;
import java.time.Clock;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DirectoryConfiguration {
  /// Without Redis the node still serves devices, under provisional epochs.
  @Bean(destroyMethod = "close")
  RedisLink redisLink(RedisClient client) {
    return RedisLink.open(client);
  }

  @Bean
  SessionDirectory sessionDirectory(RedisLink redisLink, Clock clock) {
    return new SessionDirectory(redisLink, clock);
  }

  @Bean(destroyMethod = "close")
  SessionNotices sessionNotices(RedisClient client, NodeId nodeId, Registrar registrar) {
    return SessionNotices.listen(client, nodeId, registrar::hear, registrar::compareAll);
  }

  @Bean(destroyMethod = "close")
  PacedWorker registrations(DirectorySettings settings) {
    return new PacedWorker("cm-registrations", settings.together());
  }

  /// The node's stop closes it; a second close could wait for Redis again.
  @Bean(destroyMethod = "")
  Registrar registrar(
      SessionDirectory directory,
      RedisLink redisLink,
      NodeId nodeId,
      SessionTable table,
      Inbox inbox,
      MeterRegistry meters,
      Clock clock,
      DirectorySettings settings,
      PacedWorker registrations) {
    return new Registrar(
        new RedisDirectory(redisLink, directory, nodeId, clock),
        nodeId,
        table,
        inbox::among,
        meters,
        clock,
        settings,
        task -> Thread.ofVirtual().name("cm-registrar").start(task),
        registrations,
        (delay, task) ->
            CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS)
                .execute(task));
  }
}
