package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.Ticker;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.connection.HttpPool;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.time.SteadyClock;
import java.net.InetAddress;
import java.security.SecureRandom;
import java.time.Clock;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(WebPushSettings.class)
class WebPushConfiguration {
  @Bean(destroyMethod = "close")
  Destinations webPushDestinations(WebPushSettings settings) {
    return new Destinations(settings, InetAddress::getAllByName, Ticker.systemTicker());
  }

  @Bean(destroyMethod = "close")
  HttpPool pushServices(WebPushSettings settings, Clock clock, MeterRegistry meters) {
    return new HttpPool(
        Channel.WEBPUSH,
        settings.bounds(),
        false,
        Trust.with("gateway.webpush.trusted-certificates", settings.trustedCertificates())
            .context(),
        clock,
        meters);
  }

  @Bean
  Provider webPushProvider(
      CredentialCache credentials,
      Destinations webPushDestinations,
      HttpPool pushServices,
      WebPushSettings settings,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    ProviderMetrics metrics = new ProviderMetrics(meters, Channel.WEBPUSH);
    return new WebPushProvider(
        credentials,
        webPushDestinations,
        new RestingHosts(new SteadyClock(clock)),
        new VapidTokens(clock, metrics),
        new Encryption(random),
        new RequestLimits(
            settings.connections(), settings.connectionsPerHost(), settings.connectTimeout()),
        pushServices,
        new RetryWaits(clock, random),
        metrics);
  }
}
