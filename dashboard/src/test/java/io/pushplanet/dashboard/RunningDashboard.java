package io.pushplanet.dashboard;

import io.pushplanet.common.access.MasterKey;
import io.pushplanet.quickstart.services.LocalServices;
import java.net.http.HttpClient;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/// The whole dashboard on free ports and real services, started once for all tests of this JVM.
final class RunningDashboard {
  static final String ADMIN = "admin";
  static final String PASSWORD = "a password for tests";
  static final String MASTER_KEY = MasterKey.generate(new SecureRandom());

  private static final class Started {
    static final RunningDashboard ONLY = start(LocalServices.forTests());
  }

  private final ConfigurableApplicationContext context;
  private final LocalServices services;

  private RunningDashboard(ConfigurableApplicationContext context, LocalServices services) {
    this.context = context;
    this.services = services;
  }

  static RunningDashboard shared() {
    return Started.ONLY;
  }

  static RunningDashboard start(LocalServices services, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--server.port=0",
                "--management.server.port=0",
                "--pushplanet.mysql.url=" + services.mysql().jdbcUrl(),
                "--pushplanet.mysql.user=" + services.mysql().user(),
                "--pushplanet.mysql.password=" + services.mysql().password(),
                "--pushplanet.redis.uri=" + services.redis(),
                "--pushplanet.amqp.uri=" + services.amqp(),
                "--pushplanet.master-key=" + MASTER_KEY,
                "--dashboard.bootstrap-operator.name=" + ADMIN,
                "--dashboard.bootstrap-operator.password=" + PASSWORD));
    arguments.addAll(List.of(more));
    return new RunningDashboard(
        SpringApplication.run(DashboardApplication.class, arguments.toArray(String[]::new)),
        services);
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

  JdbcTemplate sql() {
    return new JdbcTemplate(context.getBean(javax.sql.DataSource.class));
  }

  <T> T bean(Class<T> type) {
    return context.getBean(type);
  }

  HttpClient http() {
    return HttpClient.newHttpClient();
  }

  void stop() {
    context.close();
  }
}
