package io.pushplanet.dispatcher.route;

import io.lettuce.core.RedisClient;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.route.RouteStore;
import io.pushplanet.common.session.SessionDirectory;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class RouteConfiguration {
  @Bean
  RedisLink redisLink(RedisClient client) {
    return RedisLink.open(client);
  }

  @Bean
  RouteStore routeStore(RedisLink link) {
    return new RouteStore(link);
  }

  @Bean
  SessionDirectory sessionDirectory(RedisLink link, Clock clock) {
    return new SessionDirectory(link, clock);
  }
}
