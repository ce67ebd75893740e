package io.pushplanet.gateway.provider;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.CredentialVault;
import io.pushplanet.common.access.MasterKey;
import io.pushplanet.common.change.Change;
import io.pushplanet.common.change.ChangeFeed;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.settings.PlatformConfiguration;
import io.pushplanet.quickstart.services.LocalServices;
import io.pushplanet.simulators.Options;
import io.pushplanet.simulators.Simulators;
import io.pushplanet.simulators.apns.ApnsKey;
import io.pushplanet.simulators.fcm.FcmAccount;
import io.pushplanet.simulators.hms.HmsClient;
import io.pushplanet.simulators.tls.Authority;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.SecureRandom;
import java.security.spec.ECGenParameterSpec;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Timestamp;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/// The providers wired as in the worker, against the simulators, a database and Redis.
final class ProviderPlatform implements AutoCloseable {
  static final String BUNDLE = "com.example.shop";

  /// https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns
  private static final Duration TOKENS_CHANGE_EVERY = Duration.ofMinutes(20);

  private static final String MASTER_KEY = MasterKey.generate(new SecureRandom());

  final Simulators simulators;
  final ConfigurableApplicationContext context;

  @Configuration(proxyBeanMethods = false)
  @Import(PlatformConfiguration.class)
  @ComponentScan({
    "io.pushplanet.gateway.alert",
    "io.pushplanet.gateway.apns",
    "io.pushplanet.gateway.fcm",
    "io.pushplanet.gateway.hms",
    "io.pushplanet.gateway.webpush",
    "io.pushplanet.gateway.credential"
  })
  static class Wiring {
    @Bean
    MeterRegistry meters() {
      return new SimpleMeterRegistry();
    }
  }

  private ProviderPlatform(Simulators simulators, ConfigurableApplicationContext context) {
    this.simulators = simulators;
    this.context = context;
  }

  static ProviderPlatform start(Path state, String... more) {
    return start(state, false, more);
  }

  /// @param strictTokens whether APNs knows only registered tokens
  static ProviderPlatform start(Path state, boolean strictTokens, String... more) {
    Simulators simulators =
        Simulators.start(
            new Options(0, 0, 0, 0, 0, 0, state, strictTokens, TOKENS_CHANGE_EVERY, "localhost"),
            Clock.systemUTC());
    return new ProviderPlatform(simulators, worker(simulators, more));
  }

  /// Another worker with the same servers.
  static ConfigurableApplicationContext worker(Simulators simulators, String... more) {
    LocalServices services = LocalServices.forTests();
    SpringApplication application =
        new SpringApplicationBuilder(Wiring.class).web(WebApplicationType.NONE).build();
    application.setRegisterShutdownHook(false);
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("pushplanet.mysql.url", services.mysql().jdbcUrl());
    settings.put("pushplanet.mysql.user", services.mysql().user());
    settings.put("pushplanet.mysql.password", services.mysql().password());
    settings.put("pushplanet.redis.uri", services.redis().toString());
    settings.put("pushplanet.amqp.uri", services.amqp().toString());
    settings.put("pushplanet.master-key", MASTER_KEY);
    // Without the role `later` no worker probes paused credentials: scripted answers are for the
    // tests' messages.
    settings.put("gateway.roles", "statistics");
    settings.put("gateway.apns.production-endpoint", local(simulators.apns().port()));
    settings.put("gateway.apns.sandbox-endpoint", local(simulators.apnsSandbox().port()));
    settings.put("gateway.apns.production-channels-endpoint", local(simulators.apns().port()));
    settings.put("gateway.apns.sandbox-channels-endpoint", local(simulators.apnsSandbox().port()));
    settings.put("gateway.apns.trusted-certificates", simulators.authority().pem().toString());
    settings.put("gateway.fcm.endpoint", local(simulators.fcm().port()));
    settings.put("gateway.fcm.trusted-certificates", simulators.authority().pem().toString());
    // Only providers whose deadlines are tested get short ones: a busy machine stands still for
    // seconds.
    for (String provider : List.of("gateway.apns.connection", "gateway.fcm.connection")) {
      settings.put(provider + ".connect-timeout", "60s");
      settings.put(provider + ".request-timeout", "60s");
      settings.put(provider + ".dead-after", "60s");
    }
    settings.put("gateway.hms.endpoint", local(simulators.hms().port()));
    settings.put("gateway.hms.token-endpoint", simulators.hms().tokenUri());
    settings.put("gateway.hms.trusted-certificates", simulators.authority().pem().toString());
    settings.put("gateway.hms.connect-timeout", "60s");
    settings.put("gateway.hms.request-timeout", "60s");
    settings.put("gateway.webpush.connect-timeout", "60s");
    settings.put("gateway.webpush.request-timeout", "60s");
    settings.put("gateway.webpush.trusted-origins", simulators.webPush().origin());
    settings.put("gateway.webpush.trusted-certificates", simulators.authority().pem().toString());
    application.setDefaultProperties(settings);
    return application.run(more);
  }

  /// APNs accepts each new provider token at once from now on, or a team's every 20 minutes again.
  void tokensMayChangeAtOnce(boolean atOnce) {
    simulators.apns().renewal(atOnce ? Duration.ZERO : TOKENS_CHANGE_EVERY, true);
  }

  /// The kinds of the alerts about an app.
  List<String> alerts(String app) {
    return new JdbcTemplate(context.getBean(DataSource.class))
        .queryForList("SELECT kind FROM alerts WHERE app_id = ?", String.class, app);
  }

  static String local(int port) {
    return "https://localhost:" + port;
  }

  Provider provider(Channel channel) {
    return provider(context, channel);
  }

  static Provider provider(ConfigurableApplicationContext worker, Channel channel) {
    return worker.getBeansOfType(Provider.class).values().stream()
        .filter(it -> it.channel() == channel)
        .findFirst()
        .orElseThrow();
  }

  /// How many connections the worker has to a provider.
  int connections(Channel channel) {
    return (int)
        context
            .getBean(MeterRegistry.class)
            .get("pushplanet.provider.pool.connections")
            .tag("channel", channel.word())
            .gauge()
            .value();
  }

  /// How many requests a worker has under way at a provider.
  static double streams(ConfigurableApplicationContext worker, Channel channel) {
    return worker
        .getBean(MeterRegistry.class)
        .get("pushplanet.provider.pool.streams.active")
        .tag("channel", channel.word())
        .gauge()
        .value();
  }

  /// How many tokens a worker has made for a provider.
  static double minted(ConfigurableApplicationContext worker, Channel channel) {
    return worker
        .getBean(MeterRegistry.class)
        .counter("pushplanet.provider.tokens.minted", "channel", channel.word())
        .count();
  }

  void uploadKey(String app, ApnsKey.Issued issued, String environment) {
    simulators.apnsDirectory().register(issued.key());
    uploadUnknownKey(app, issued, environment);
  }

  /// Uploads a key that Apple does not know, or no longer.
  void uploadUnknownKey(String app, ApnsKey.Issued issued, String environment) {
    upload(
        app,
        "apns",
        environment,
        "p8",
        "{\"team_id\":\"%s\",\"key_id\":\"%s\",\"bundle_id\":\"%s\"}"
            .formatted(issued.key().teamId(), issued.key().keyId(), BUNDLE),
        issued.p8().getBytes(StandardCharsets.US_ASCII));
  }

  /// Uploads a push certificate instead of a key.
  void uploadCertificate(String app) {
    upload(
        app,
        "apns",
        "production",
        "p12",
        CredentialRows.P12_DETAIL,
        new CredentialRows(this).p12());
  }

  void uploadAccount(String app, FcmAccount.Issued issued) {
    simulators.fcmDirectory().register(issued.account());
    upload(
        app,
        "fcm",
        "production",
        "service_account",
        "{\"project_id\":\"%s\",\"client_email\":\"%s\"}"
            .formatted(issued.account().projectId(), issued.account().clientEmail()),
        issued.json().getBytes(StandardCharsets.UTF_8));
  }

  void uploadClient(String app, HmsClient client) {
    upload(
        app,
        "hms",
        "production",
        "client_secret",
        "{\"client_id\":\"%s\"}".formatted(client.clientId()),
        client.secret().getBytes(StandardCharsets.UTF_8));
  }

  /// @return the public key, for browsers
  String uploadVapidKey(String app) {
    VapidPair pair = VapidPair.make();
    upload(
        app,
        "webpush",
        "production",
        "vapid",
        pair.detail(),
        pair.pem().getBytes(StandardCharsets.US_ASCII));
    return pair.publicKey();
  }

  /// @param publicKey as browsers get it
  /// @param pem the private key
  record VapidPair(String publicKey, String pem) {
    static VapidPair make() {
      try {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        KeyPair pair = generator.generateKeyPair();
        // An X.509 key ends with the point.
        byte[] encoded = pair.getPublic().getEncoded();
        return new VapidPair(
            Base64.getUrlEncoder()
                .withoutPadding()
                .encodeToString(Arrays.copyOfRange(encoded, encoded.length - 65, encoded.length)),
            Authority.Pem.of("PRIVATE KEY", pair.getPrivate().getEncoded()));
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }

    String detail() {
      return "{\"public_key\":\"%s\",\"subject\":\"mailto:ops@example.com\"}".formatted(publicKey);
    }

    @Override
    public String toString() {
      return "VapidPair[" + publicKey + "]";
    }
  }

  /// Uploads as the dashboard does: the older credential retires in one transaction with the
  /// change.
  void upload(
      String app, String provider, String environment, String kind, String detail, byte[] secret) {
    byte[] sealed =
        context
            .getBean(CredentialVault.class)
            .encrypt(new AppId(app), provider, environment, secret);
    try (Connection connection = context.getBean(DataSource.class).getConnection()) {
      connection.setAutoCommit(false);
      try (PreparedStatement retire =
              connection.prepareStatement(
                  "UPDATE credentials SET state = 'retired' WHERE app_id = ? AND provider = ? AND"
                      + " environment = ?");
          PreparedStatement insert =
              connection.prepareStatement(
                  "INSERT INTO credentials (app_id, provider, environment, kind, state, detail,"
                      + " secret, created_at, created_by) VALUES (?, ?, ?, ?, 'active', ?, ?, ?,"
                      + " 'test')",
                  Statement.RETURN_GENERATED_KEYS)) {
        retire.setString(1, app);
        retire.setString(2, provider);
        retire.setString(3, environment);
        retire.executeUpdate();
        insert.setString(1, app);
        insert.setString(2, provider);
        insert.setString(3, environment);
        insert.setString(4, kind);
        insert.setString(5, detail);
        insert.setBytes(6, sealed);
        insert.setTimestamp(7, Timestamp.from(Clock.systemUTC().instant()));
        insert.executeUpdate();
        ChangeFeed.record(
            connection, Clock.systemUTC(), Change.Kind.CREDENTIAL, new AppId(app), "1");
        connection.commit();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    context.close();
    simulators.close();
  }
}
