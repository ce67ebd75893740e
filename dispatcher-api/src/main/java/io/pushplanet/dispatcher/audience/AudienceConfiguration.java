package io.pushplanet.dispatcher.audience;

import com.github.benmanes.caffeine.cache.Ticker;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class AudienceConfiguration {
  private static final Duration LONGEST_WAIT_FOR_A_COUNT = Duration.ofSeconds(3);

  @Bean
  AudienceCounts audienceCounts(AudienceMapper mapper) {
    return new AudienceCounts(
        mapper,
        Ticker.systemTicker(),
        counting -> Thread.ofVirtual().name("count-audience").start(counting),
        LONGEST_WAIT_FOR_A_COUNT);
  }
}
