package io.pushplanet.gateway.hms;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.connection.HttpPool;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.connection.Trust;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.credential.CredentialCache;
import io.pushplanet.gateway.credential.CredentialProbe;
import io.pushplanet.gateway.oauth.AccessTokens;
import io.pushplanet.gateway.oauth.OAuthProbe;
import io.pushplanet.gateway.oauth.TokenRequest;
import io.pushplanet.gateway.provider.Provider;
import io.pushplanet.gateway.provider.ProviderMetrics;
import io.pushplanet.gateway.provider.RetryWaits;
import io.pushplanet.gateway.time.SteadyClock;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(HmsSettings.class)
class HmsConfiguration {
  @Bean
  SSLContext hmsTls(HmsSettings settings) {
    return Trust.with("gateway.hms.trusted-certificates", settings.trustedCertificates()).context();
  }

  /// Client credentials
  /// (https://developer.huawei.com/consumer/cn/doc/HMSCore-Guides/oauth2-0000001212610981).
  @Bean
  AccessTokens<HmsClient> hmsAccessTokens(
      HmsSettings settings, SSLContext hmsTls, Clock clock, MeterRegistry meters) {
    return new AccessTokens<>(
        (client, _) ->
            new TokenRequest(
                settings.tokenEndpoint(),
                Map.of(
                    "grant_type",
                    "client_credentials",
                    "client_id",
                    client.clientId(),
                    "client_secret",
                    client.secret().reveal())),
        new LiveRequest(hmsTls, settings.connectTimeout()),
        settings.requestTimeout(),
        clock,
        new SteadyClock(clock),
        new ProviderMetrics(meters, Channel.HMS));
  }

  @Bean(destroyMethod = "close")
  HttpPool hmsConnections(
      HmsSettings settings, SSLContext hmsTls, Clock clock, MeterRegistry meters) {
    return new HttpPool(Channel.HMS, settings.bounds(), true, hmsTls, clock, meters);
  }

  @Bean
  CredentialProbe hmsProbe(
      HmsSettings settings, AccessTokens<HmsClient> hmsAccessTokens, SSLContext hmsTls) {
    return new OAuthProbe<>(
        Channel.HMS.word(),
        HmsClient.class,
        hmsAccessTokens,
        new LiveRequest(hmsTls),
        settings.requestTimeout(),
        new HmsProbe(settings.endpoint()));
  }

  @Bean
  Provider hmsProvider(
      HmsSettings settings,
      CredentialCache credentials,
      AccessTokens<HmsClient> hmsAccessTokens,
      HttpPool hmsConnections,
      Clock clock,
      SecureRandom random,
      MeterRegistry meters) {
    return new HmsProvider(
        settings,
        credentials,
        hmsAccessTokens,
        hmsConnections,
        new FlowControl(new SteadyClock(clock)),
        new RetryWaits(clock, random),
        new ProviderMetrics(meters, Channel.HMS));
  }
}
