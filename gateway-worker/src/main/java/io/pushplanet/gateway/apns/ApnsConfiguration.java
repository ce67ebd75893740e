package io.pushplanet.gateway.apns;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.alert.DailyAlerts;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialProbe;
import io.pushplanet.gateway.http2.ProviderConnections;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.role.ForRole;
import io.pushplanet.gateway.role.Role;
import io.pushplanet.gateway.schedule.PeriodicTask;
import java.security.SecureRandom;
import java.time.Clock;
import javax.sql.DataSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(ApnsSettings.class)
class ApnsConfiguration {
  @Bean(destroyMethod = "close")
  RedisTokens apnsRedisTokens(RedisClient redis, CredentialVault vault) {
    return new RedisTokens(redis, vault);
  }

  @Bean(destroyMethod = "close")
  ProviderConnections apnsConnections(ApnsSettings settings, Clock clock, MeterRegistry meters) {
    return new ProviderConnections(Channel.APNS, settings.connection(), clock, meters);
  }

  @Bean
  ProviderTokens apnsProviderTokens(RedisTokens shared, Clock clock, MeterRegistry meters) {
    return new ProviderTokens(shared, clock, new ProviderMetrics(meters, Channel.APNS));
  }

  @Bean
  PeriodicTask apnsTokensShared(
      ProviderTokens apnsProviderTokens, ApnsSettings settings, MeterRegistry meters) {
    return new PeriodicTask(
        "apns-tokens", settings.tokensPeriod(), apnsProviderTokens::share, meters);
  }

  @Bean
  CredentialProbe apnsProbe(ApnsSettings settings, ProviderTokens apnsProviderTokens) {
    return new ApnsProbe(settings, apnsProviderTokens);
  }

  @Bean
  Provider apnsProvider(
      ApnsSettings settings,
      CredentialCache credentials,
      ProviderTokens apnsProviderTokens,
      ProviderConnections apnsConnections,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters,
      LostChannels apnsLostChannels,
      DailyAlerts alerts) {
    ProviderMetrics metrics = new ProviderMetrics(meters, Channel.APNS);
    return new ApnsProvider(
        settings,
        credentials,
        apnsProviderTokens,
        apnsConnections,
        new RetryWaits(clock, random),
        metrics,
        apnsLostChannels,
        alerts);
  }

  @Bean
  BroadcastChannels apnsBroadcastChannels(
      ApnsSettings settings, ProviderTokens apnsProviderTokens, Clock clock, SecureRandom random) {
    return new BroadcastChannels(settings, apnsProviderTokens, new RetryWaits(clock, random));
  }

  @Bean
  LostChannels apnsLostChannels(
      DataSource source, BroadcastChannels apnsBroadcastChannels, CredentialCache credentials) {
    return new LostChannels(source, apnsBroadcastChannels, credentials);
  }

  @Bean
  @ForRole(Role.DELIVER)
  PeriodicTask apnsChannelKeeper(
      DataSource source,
      ApnsSettings settings,
      CredentialCache credentials,
      BroadcastChannels apnsBroadcastChannels,
      LostChannels apnsLostChannels,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    ChannelKeeper keeper =
        new ChannelKeeper(source, apnsBroadcastChannels, credentials, clock, random, meters);
    return new PeriodicTask(
        "apns-channels",
        settings.channelsPeriod(),
        () -> {
          apnsLostChannels.round();
          return keeper.round();
        },
        meters);
  }
}
