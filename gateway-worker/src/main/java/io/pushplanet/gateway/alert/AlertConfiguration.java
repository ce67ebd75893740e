package io.pushplanet.gateway.alert;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/// Public because features that raise alerts import it.
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(AlertSettings.class)
public class AlertConfiguration {
  private static final Duration TRIMMED_EVERY = Duration.ofHours(1);

  @Bean
  Alerts alerts(DataSource database, AlertSettings settings, Clock clock, MeterRegistry meters) {
    return new Alerts(database, settings.channels(), clock, meters);
  }

  @Bean
  DailyAlerts dailyAlerts(Alerts alerts, Clock clock) {
    return new DailyAlerts(alerts, clock);
  }

  @Bean
  @ForRole(Role.LATER)
  PeriodicTask alertWebhook(
      DataSource database,
      AlertSettings settings,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    URI url = settings.webhookUrl();
    if (url == null) {
      return new PeriodicTask("alert-webhook", settings.giveUpAfter(), () -> false, meters);
    }
    AlertChannel channel =
        new AlertWebhook(url, settings, new LiveRequest(Trust.ofJdk().context()), clock);
    return new PeriodicTask(
        "alert-webhook",
        settings.period(),
        new AlertPost(database, channel, settings, clock, random, meters)::round,
        meters);
  }

  @Bean
  @ForRole(Role.LATER)
  PeriodicTask alertMail(
      DataSource database,
      AlertSettings settings,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    if (!settings.mail().isOn()) {
      return new PeriodicTask("alert-mail", settings.giveUpAfter(), () -> false, meters);
    }
    AlertChannel channel = new AlertMail(settings.mail(), settings.requestTimeout());
    return new PeriodicTask(
        "alert-mail",
        settings.period(),
        new AlertPost(database, channel, settings, clock, random, meters)::round,
        meters);
  }

  @Bean
  @ForRole(Role.LATER)
  PeriodicTask alertRetention(Alerts alerts, AlertSettings settings, MeterRegistry meters) {
    return new PeriodicTask(
        "alert-retention", TRIMMED_EVERY, () -> alerts.trim(settings.retention()), meters);
  }
}
