package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.later.Rounds;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import java.net.URI;
import java.time.Clock;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// Public because whoever tells alerts imports it.
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(AlertSettings.class)
public class AlertConfiguration {
  @Bean
  Alerts alerts(DataSource database, AlertSettings settings, Clock clock, MeterRegistry meters) {
    return new Alerts(database, settings.webhookUrl() != null, clock, meters);
  }

  @Bean
  @ForRole(Role.LATER)
  Rounds alertWebhook(
      DataSource database, AlertSettings settings, Clock clock, MeterRegistry meters) {
    URI url = settings.webhookUrl();
    if (url == null) {
      return new Rounds("alert-webhook", settings.giveUpAfter(), () -> false, meters);
    }
    AlertWebhook webhook =
        new AlertWebhook(
            database, url, settings, new LiveRequest(Trust.with(null).context()), clock, meters);
    return new Rounds("alert-webhook", settings.period(), webhook::post, meters);
  }
}
