package io.pushplanet.dispatcher.push;

import io.pushplanet.common.message.MessageIds;
import java.security.SecureRandom;
import java.time.Clock;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class PushConfiguration {
  @Bean
  MessageIds messageIds(Clock clock, SecureRandom random) {
    return new MessageIds(clock, random);
  }
}
