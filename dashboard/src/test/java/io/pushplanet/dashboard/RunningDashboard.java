package io.pushplanet.dashboard;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.quickstart.services.LocalServices;
import java.security.SecureRandom;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.security.crypto.password.PasswordEncoder;

/// The whole dashboard on free ports and real services, started once for all tests of this JVM.
public final class RunningDashboard {
  public static final String ADMIN = "admin";
  public static final String PASSWORD = "a password for tests";
  static final String MASTER_KEY = MasterKey.generate(new SecureRandom());

  /// The former master key, which seals older credentials.
  static final String FORMER_MASTER_KEY = MasterKey.generate(new SecureRandom());

  private static final class Started {
    static final RunningDashboard ONLY = start(LocalServices.forTests(), Map.of());
  }

  private final ConfigurableApplicationContext context;
  private final LocalServices services;
  private final FakeWorker worker;

  private RunningDashboard(ConfigurableApplicationContext context, LocalServices services) {
    this.context = context;
    this.services = services;
    this.worker = new FakeWorker(sql());
  }

  FakeWorker worker() {
    return worker;
  }

  public static RunningDashboard shared() {
    return Started.ONLY;
  }

  /// @param more settings that are added to the usual ones, or replace them
  /// @param beans of the test's own
  static RunningDashboard start(
      LocalServices services, Map<String, String> more, Class<?>... beans) {
    Map<String, String> settings = new TreeMap<>();
    settings.put("server.port", "0");
    settings.put("management.server.port", "0");
    settings.put("pushplanet.mysql.url", services.mysql().jdbcUrl());
    settings.put("pushplanet.mysql.user", services.mysql().user());
    settings.put("pushplanet.mysql.password", services.mysql().password());
    settings.put("pushplanet.redis.uri", services.redis().toString());
    settings.put("pushplanet.amqp.uri", services.amqp().toString());
    settings.put("pushplanet.master-key", MASTER_KEY);
    settings.put("pushplanet.former-master-keys", FORMER_MASTER_KEY);
    settings.put("dashboard.credential-check-within", "50s");
    settings.put("dashboard.bootstrap-operator.name", ADMIN);
    settings.put("dashboard.bootstrap-operator.password", PASSWORD);
    settings.putAll(more);
    String[] arguments =
        settings.entrySet().stream()
            .map(setting -> "--" + setting.getKey() + "=" + setting.getValue())
            .toArray(String[]::new);
    var application = new SpringApplication(DashboardApplication.class);
    application.addPrimarySources(List.of(beans));
    return new RunningDashboard(application.run(arguments), services);
  }

  LocalServices services() {
    return services;
  }

  String address() {
    return "http://127.0.0.1:" + port("local.server.port");
  }

  String managementAddress() {
    return "http://127.0.0.1:" + port("local.management.port");
  }

  private int port(String property) {
    return context.getEnvironment().getRequiredProperty(property, Integer.class);
  }

  public JdbcTemplate sql() {
    return new JdbcTemplate(context.getBean(javax.sql.DataSource.class));
  }

  public <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  /// Creates an operator who logs in with [#PASSWORD].
  void operator(String name, String role) {
    sql()
        .update(
            "REPLACE INTO operators (name, password, role, created_at) VALUES (?, ?, ?, ?)",
            name,
            bean(PasswordEncoder.class).encode(PASSWORD),
            role,
            Timestamp.from(Instant.now()));
  }

  void stop() {
    worker.stop();
    context.close();
  }
}
