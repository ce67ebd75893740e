package io.pushplanet.common.settings;

import com.rabbitmq.client.ConnectionFactory;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.redis.RedisPipeline;
import java.net.URISyntaxException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.boot.context.properties.ConfigurationPropertiesBinding;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.convert.converter.Converter;

/// The beans every process has: clock, randomness, master key and the clients of MySQL, Redis and
/// RabbitMQ. None of them needs its server at start, so that processes start in any order.
@Configuration(proxyBeanMethods = false)
@EnableConfigurationProperties(PlatformSettings.class)
public class PlatformConfiguration {
  @Bean
  static ApplicationListener<ApplicationStartedEvent> unknownVariables() {
    // Not a virtual thread, because it reads from jars ([BootJar]).
    return started -> Thread.ofPlatform().daemon().name("settings").start(UnknownVariables::tell);
  }

  @Bean
  static ApplicationListener<ApplicationStartedEvent> bootJar() {
    return started -> BootJar.tell();
  }

  @Bean
  Clock clock() {
    return Clock.systemUTC();
  }

  @Bean
  SecureRandom secureRandom() {
    return new SecureRandom();
  }

  @Bean
  MasterKey masterKey(PlatformSettings settings) {
    return MasterKey.parse(settings.masterKey().reveal())
        .accepting(
            settings.formerMasterKeys().stream()
                .map(former -> MasterKey.parse(former.reveal()))
                .toList());
  }

  @Bean
  CredentialVault credentialVault(MasterKey masterKey, SecureRandom random) {
    return new CredentialVault(masterKey, random);
  }

  @Bean
  HikariDataSource dataSource(PlatformSettings settings) {
    PlatformSettings.Mysql mysql = settings.mysql();
    HikariConfig config = new HikariConfig();
    config.setPoolName("mysql");
    config.setJdbcUrl(mysql.url());
    config.setUsername(mysql.user());
    config.setPassword(mysql.password().reveal());
    config.setMaximumPoolSize(mysql.poolSize());
    config.setConnectionTimeout(Duration.ofSeconds(3).toMillis());
    config.setValidationTimeout(Duration.ofSeconds(2).toMillis());
    config.setInitializationFailTimeout(-1);
    config.setExceptionOverride(new ReadOnlyDatabase());
    // The server does not notice a client whose host has vanished: it would keep the session and
    // its locks for eight hours
    // (https://dev.mysql.com/doc/refman/8.4/en/server-system-variables.html#sysvar_wait_timeout).
    // Pooled connections send keepalives more often than this.
    config.setConnectionInitSql(
        "SET SESSION wait_timeout = 60, SESSION innodb_lock_wait_timeout = "
            + mysql.lockWithin().toSeconds());
    config.setKeepaliveTime(Duration.ofSeconds(30).toMillis());
    config.addDataSourceProperty("rewriteBatchedStatements", "true");
    // Otherwise the driver asks the server whether the session is read-only, before each batch and
    // each write of MyBatis.
    config.addDataSourceProperty("useLocalSessionState", "true");
    // The driver keeps its parsed statements per connection, on the client's side only.
    config.addDataSourceProperty("cachePrepStmts", "true");
    config.addDataSourceProperty("prepStmtCacheSize", "100");
    config.addDataSourceProperty("prepStmtCacheSqlLimit", "16384");
    config.addDataSourceProperty("connectionTimeZone", "UTC");
    config.addDataSourceProperty("forceConnectionTimeZoneToSession", "true");
    config.addDataSourceProperty("connectTimeout", "3000");
    config.addDataSourceProperty("socketTimeout", Long.toString(mysql.answerWithin().toMillis()));
    return new HikariDataSource(config);
  }

  @Bean(destroyMethod = "shutdown")
  ClientResources redisResources() {
    // The client's default pause grows to half a minute, and is the same for all processes.
    return ClientResources.builder()
        .nettyCustomizer(new RedisPipeline())
        .reconnectDelay(
            Delay.fullJitter(
                Duration.ofMillis(100), Duration.ofSeconds(2), 100, TimeUnit.MILLISECONDS))
        .build();
  }

  /// While Redis is away commands fail at once instead of piling up. A connection without commands,
  /// such as a listener's, is kept alive: otherwise it would never notice that the host of Redis
  /// has vanished.
  @Bean(destroyMethod = "shutdown")
  RedisClient redisClient(PlatformSettings settings, ClientResources redisResources) {
    RedisClient client =
        RedisClient.create(redisResources, RedisURI.create(settings.redis().uri().reveal()));
    client.setOptions(
        ClientOptions.builder()
            .socketOptions(
                SocketOptions.builder()
                    .keepAlive(
                        SocketOptions.KeepAliveOptions.builder()
                            .enable()
                            .idle(Duration.ofSeconds(5))
                            .interval(Duration.ofSeconds(2))
                            .count(3)
                            .build())
                    .build())
            .autoReconnect(true)
            .disconnectedBehavior(ClientOptions.DisconnectedBehavior.REJECT_COMMANDS)
            .timeoutOptions(TimeoutOptions.enabled(Duration.ofSeconds(2)))
            .build());
    return client;
  }

  /// For publishers and consumers, which reconnect by themselves: the library's own recovery is
  /// off.
  @Bean
  ConnectionFactory amqpConnectionFactory(PlatformSettings settings) {
    ConnectionFactory factory = new ConnectionFactory();
    try {
      factory.setUri(settings.amqp().uri().reveal());
      if (factory.isSSL()) {
        // By itself the driver trusts every certificate.
        factory.useSslProtocol(SSLContext.getDefault());
        factory.enableHostnameVerification();
      }
    } catch (URISyntaxException | GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "pushplanet.amqp.uri is not an AMQP URI such as amqp://user:password@host:5672/%2f", e);
    }
    factory.setAutomaticRecoveryEnabled(false);
    factory.setTopologyRecoveryEnabled(false);
    factory.setConnectionTimeout(3_000);
    factory.setHandshakeTimeout(5_000);
    factory.setRequestedHeartbeat(10);
    return factory;
  }

  @Bean
  @ConfigurationPropertiesBinding
  static Converter<String, Secret> secretConverter() {
    return new SecretConverter();
  }

  private static final class SecretConverter implements Converter<String, Secret> {
    @Override
    public Secret convert(String text) {
      return new Secret(text);
    }
  }
}
