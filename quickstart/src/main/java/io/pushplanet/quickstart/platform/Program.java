package io.pushplanet.quickstart.platform;

import java.util.Locale;

/// The processes of the platform that are ours.
public enum Program {
  DISPATCHER("dispatcher-api", "dispatcher-api", Listener.DISPATCHER_MANAGEMENT),
  WORKER("gateway-worker", "gateway-worker", Listener.WORKER_MANAGEMENT),
  CONNECTION_MANAGER("connection-manager", "connection-manager", Listener.CM_MANAGEMENT),
  DASHBOARD("dashboard", "dashboard", Listener.DASHBOARD_MANAGEMENT),
  /// Stands in for Apple and Google.
  SIMULATORS("simulators", "perf-tests/simulators", Listener.SIMULATORS);

  private final String text;
  private final String module;
  private final Listener management;

  Program(String text, String module, Listener management) {
    this.text = text;
    this.module = module;
    this.management = management;
  }

  /// Its name for people: `gateway-worker`.
  public String text() {
    return text;
  }

  String module() {
    return module;
  }

  Listener management() {
    return management;
  }

  /// The path that answers 200 once it is ready.
  public String readinessPath() {
    return this == SIMULATORS ? "/health" : "/actuator/health/readiness";
  }

  /// The environment variable in which a program finds a property, as Spring Boot looks for it: upper case, `_` for dots and
  /// before a number in brackets, dashes left out (https://docs.spring.io/spring-boot/reference/features/external-config.html).
  public static String variable(String property) {
    return property.replaceAll("[]-]", "").replaceAll("[.\\[]", "_").toUpperCase(Locale.ROOT);
  }
}
