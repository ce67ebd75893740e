package io.pushplanet.gateway.fcm;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.gateway.alert.Alerts;
import io.pushplanet.gateway.alert.DailyAlerts;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.Credential.FcmServiceAccount;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialProbe;
import io.pushplanet.gateway.http2.ProviderConnections;
import io.pushplanet.gateway.oauth.AccessTokens;
import io.pushplanet.gateway.oauth.OAuthProbe;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.time.SteadyClock;
import java.security.SecureRandom;
import java.time.Clock;
import javax.net.ssl.SSLContext;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(FcmSettings.class)
class FcmConfiguration {
  @Bean
  SSLContext fcmTls(FcmSettings settings) {
    return Trust.with("gateway.fcm.trusted-certificates", settings.trustedCertificates()).context();
  }

  @Bean
  AccessTokens<FcmServiceAccount> fcmAccessTokens(
      FcmSettings settings, SSLContext fcmTls, Clock clock, MeterRegistry meters) {
    return new AccessTokens<>(
        (account, now) -> Assertions.of(account, settings.tokenEndpoint(), now),
        new LiveRequest(fcmTls, settings.connection().connectTimeout()),
        settings.connection().requestTimeout(),
        clock,
        new SteadyClock(clock),
        new ProviderMetrics(meters, Channel.FCM));
  }

  @Bean(destroyMethod = "close")
  ProviderConnections fcmConnections(FcmSettings settings, Clock clock, MeterRegistry meters) {
    return new ProviderConnections(Channel.FCM, settings.connection(), clock, meters);
  }

  @Bean
  CredentialProbe fcmProbe(
      FcmSettings settings, AccessTokens<FcmServiceAccount> fcmAccessTokens, SSLContext fcmTls) {
    return new OAuthProbe<>(
        Channel.FCM.word(),
        FcmServiceAccount.class,
        fcmAccessTokens,
        new LiveRequest(fcmTls),
        settings.connection().requestTimeout(),
        new FcmProbe(settings.endpoint()));
  }

  @Bean
  FcmQuota fcmQuota(FcmSettings settings) {
    return new FcmQuota(settings.messagesPerMinute());
  }

  @Bean
  PaceMetrics fcmPaceMetrics(MeterRegistry meters) {
    return new PaceMetrics(meters);
  }

  /// With a connection to Redis of its own, like everything that providers share.
  @Bean(destroyMethod = "close")
  ProjectPaces fcmPaces(
      FcmSettings settings, RedisClient redis, Clock clock, PaceMetrics fcmPaceMetrics) {
    return new ProjectPaces(
        RedisLink.open(redis),
        settings.messagesPerMinute(),
        new SteadyClock(clock),
        fcmPaceMetrics);
  }

  @Bean
  Provider fcmProvider(
      FcmSettings settings,
      CredentialCache credentials,
      AccessTokens<FcmServiceAccount> fcmAccessTokens,
      ProviderConnections fcmConnections,
      SSLContext fcmTls,
      Clock clock,
      SecureRandom random,
      ProjectPaces fcmPaces,
      PaceMetrics fcmPaceMetrics,
      Alerts alerts,
      DailyAlerts dailyAlerts,
      MeterRegistry meters) {
    return new FcmProvider(
        settings,
        credentials,
        fcmAccessTokens,
        fcmConnections,
        fcmTls,
        new RetryWaits(clock, random),
        new ProviderMetrics(meters, Channel.FCM),
        fcmPaces,
        new QuarterHours(settings, clock, random),
        fcmPaceMetrics,
        new RestingPlatforms(alerts, new SteadyClock(clock)),
        dailyAlerts);
  }
}
