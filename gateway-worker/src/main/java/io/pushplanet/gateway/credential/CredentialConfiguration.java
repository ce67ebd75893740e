package io.pushplanet.gateway.credential;

import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.gateway.alert.AlertConfiguration;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(CredentialSettings.class)
@Import(AlertConfiguration.class)
class CredentialConfiguration {
  @Bean
  CredentialPauses credentialPauses(
      DataSource source, Alerts alerts, Clock clock, MeterRegistry meters) {
    return new CredentialPauses(source, alerts, clock, meters);
  }

  @Bean(initMethod = "start", destroyMethod = "close")
  CredentialCache credentialCache(
      DataSource source,
      CredentialVault vault,
      CredentialPauses pauses,
      Clock clock,
      MeterRegistry meters) {
    return new CredentialCache(source, vault, pauses, clock, Ticker.systemTicker(), meters);
  }

  @Bean
  @ForRole(Role.DELIVER)
  PeriodicTask credentialWatch(
      DataSource source,
      CredentialVault vault,
      CredentialPauses pauses,
      List<CredentialProbe> probes,
      CredentialSettings settings,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    CredentialWatch watch = new CredentialWatch(source, vault, pauses, probes, clock, random);
    return new PeriodicTask("credential-watch", settings.period(), watch::round, meters);
  }

  @Bean
  @ForRole(Role.LATER)
  PeriodicTask credentialExpiry(
      DataSource source,
      Alerts alerts,
      CredentialSettings settings,
      Clock clock,
      MeterRegistry meters) {
    CredentialExpiry expiry =
        new CredentialExpiry(source, alerts, settings.expiryAlertDays(), clock, meters);
    return new PeriodicTask("credential-expiry", settings.expiryPeriod(), expiry::round, meters);
  }
}
