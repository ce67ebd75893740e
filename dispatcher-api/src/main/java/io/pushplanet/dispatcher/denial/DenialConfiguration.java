package io.pushplanet.dispatcher.denial;

import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.Denials;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class DenialConfiguration {
  @Bean
  Denials denials(RedisLink link, Clock clock) {
    return new Denials(link, clock);
  }
}
