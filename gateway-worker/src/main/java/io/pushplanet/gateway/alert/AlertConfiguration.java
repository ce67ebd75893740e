package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.later.Rounds;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// Public because whoever tells alerts imports it.
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(AlertSettings.class)
public class AlertConfiguration {
  private static final Duration TRIMMED_EVERY = Duration.ofHours(1);

  @Bean
  Alerts alerts(DataSource database, AlertSettings settings, Clock clock, MeterRegistry meters) {
    return new Alerts(database, settings.ways(), clock, meters);
  }

  @Bean
  @ForRole(Role.LATER)
  Rounds alertWebhook(
      DataSource database, AlertSettings settings, Clock clock, MeterRegistry meters) {
    URI url = settings.webhookUrl();
    if (url == null) {
      return new Rounds("alert-webhook", settings.giveUpAfter(), () -> false, meters);
    }
    AlertWay way =
        new AlertWebhook(url, settings, new LiveRequest(Trust.with(null).context()), clock);
    return new Rounds(
        "alert-webhook",
        settings.period(),
        new AlertPost(database, way, settings, clock, meters)::round,
        meters);
  }

  @Bean
  @ForRole(Role.LATER)
  Rounds alertMail(DataSource database, AlertSettings settings, Clock clock, MeterRegistry meters) {
    if (!settings.mail().isOn()) {
      return new Rounds("alert-mail", settings.giveUpAfter(), () -> false, meters);
    }
    AlertWay way = new AlertMail(settings.mail(), settings.requestTimeout());
    return new Rounds(
        "alert-mail",
        settings.period(),
        new AlertPost(database, way, settings, clock, meters)::round,
        meters);
  }

  @Bean
  @ForRole(Role.LATER)
  Rounds alertRetention(Alerts alerts, AlertSettings settings, MeterRegistry meters) {
    return new Rounds(
        "alert-retention", TRIMMED_EVERY, () -> alerts.trim(settings.retention()), meters);
  }
}
