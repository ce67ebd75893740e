package io.pushplanet.quickstart.platform;

import java.util.Locale;

/// Our own programs.
public enum Program {
  DISPATCHER("dispatcher-api", "dispatcher-api", Listener.DISPATCHER_MANAGEMENT),
  WORKER("gateway-worker", "gateway-worker", Listener.WORKER_MANAGEMENT),
  CONNECTION_MANAGER("connection-manager", "connection-manager", Listener.CM_MANAGEMENT),
  DASHBOARD("dashboard", "dashboard", Listener.DASHBOARD_MANAGEMENT),
  /// Stands in for Apple, Google, Huawei and the browsers' push services.
  SIMULATORS("simulators", "perf-tests/simulators", Listener.SIMULATORS);

  private final String text;
  private final String module;
  private final Listener management;

  Program(String text, String module, Listener management) {
    this.text = text;
    this.module = module;
    this.management = management;
  }

  /// Its name: `gateway-worker`.
  public String text() {
    return text;
  }

  String module() {
    return module;
  }

  Listener management() {
    return management;
  }

  /// What it does before it ends.
  String lastDuty() {
    return switch (this) {
      case DISPATCHER, DASHBOARD, SIMULATORS -> "answers the requests that it has begun";
      case WORKER -> "brings to an end what it has in hand";
      case CONNECTION_MANAGER -> "sends its devices away (cm.drain.longest-at-stop)";
    };
  }

  /// The path that answers 200 once the program is ready.
  public String readinessPath() {
    return this == SIMULATORS ? "/health" : "/actuator/health/readiness";
  }

  /// The environment variable of a property, as Spring Boot derives it: upper case, `_` for dots
  /// and before a number in brackets, without dashes
  /// (https://docs.spring.io/spring-boot/reference/features/external-config.html).
  public static String variable(String property) {
    return property.replaceAll("[]-]", "").replaceAll("[.\\[]", "_").toUpperCase(Locale.ROOT);
  }
}
