package io.pushplanet.gateway.credential;

import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.CredentialVault;
import javax.sql.DataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class CredentialConfiguration {
  @Bean(initMethod = "start", destroyMethod = "close")
  CredentialCache credentialCache(DataSource source, CredentialVault vault, MeterRegistry meters) {
    return new CredentialCache(source, vault, Ticker.systemTicker(), meters);
  }
}
