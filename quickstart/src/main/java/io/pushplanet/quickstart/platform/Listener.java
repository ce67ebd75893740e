package io.pushplanet.quickstart.platform;

import java.util.Locale;

/// A port of the platform, and its usual number. 0 means any free port, for ports that no user
/// types.
public enum Listener {
  DISPATCHER(8080),
  DASHBOARD(8081),
  MQTT(1883),
  MQTT_TLS(8883),
  NODE(1884),
  DISPATCHER_MANAGEMENT(9080),
  DASHBOARD_MANAGEMENT(9081),
  WORKER_MANAGEMENT(9082),
  CM_MANAGEMENT(9083),
  SIMULATORS(2199),
  APNS(0),
  APNS_SANDBOX(0),
  FCM(0),
  HMS(0),
  WEBPUSH(0),
  MYSQL(0),
  REDIS(0),
  AMQP(0);

  private final int usualPort;

  Listener(int usualPort) {
    this.usualPort = usualPort;
  }

  int usualPort() {
    return usualPort;
  }

  /// Whether apps, operators or devices use it. The others are for our own programs, and have weak
  /// passwords or none.
  public boolean isPublic() {
    return switch (this) {
      case DISPATCHER, DASHBOARD, MQTT, MQTT_TLS -> true;
      case NODE,
          DISPATCHER_MANAGEMENT,
          DASHBOARD_MANAGEMENT,
          WORKER_MANAGEMENT,
          CM_MANAGEMENT,
          SIMULATORS,
          APNS,
          APNS_SANDBOX,
          FCM,
          HMS,
          WEBPUSH,
          MYSQL,
          REDIS,
          AMQP ->
          false;
    };
  }

  /// The name of its setting: `--mqtt-tls-port`.
  public String option() {
    return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-') + "-port";
  }
}
