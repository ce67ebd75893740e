package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.services.LocalServices;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/// The settings of each program as environment variables; docs/settings.md explains them.
///
/// @param further settings of all programs, which take precedence
record ProgramSettings(
    PublicAddress address,
    Ports ports,
    Secrets secrets,
    LocalServices services,
    Path simulatorsState,
    TlsIdentity tls,
    Map<String, String> further) {

  Map<String, String> of(Program program) {
    var settings = new LinkedHashMap<String, String>();
    String management = Integer.toString(ports.of(program.management()));
    settings.put("management.server.port", management);
    settings.put("server.port", management);
    settings.put("server.address", PublicAddress.LOOPBACK);
    switch (program) {
      case DISPATCHER -> {
        platform(settings);
        publicHttp(settings, Listener.DISPATCHER);
        settings.put("dispatcher.mqtt-host", address.networkHost());
        settings.put("dispatcher.mqtt-port", Integer.toString(ports.of(Listener.MQTT)));
        settings.put("dispatcher.mqtt-tls-port", Integer.toString(ports.of(Listener.MQTT_TLS)));
      }
      case WORKER -> {
        platform(settings);
        String authority = simulatorsState.resolve("ca.pem").toString();
        settings.put("gateway.apns.production-endpoint", https(Listener.APNS));
        settings.put("gateway.apns.sandbox-endpoint", https(Listener.APNS_SANDBOX));
        // The simulators serve the management of channels on the same ports.
        settings.put("gateway.apns.production-channels-endpoint", https(Listener.APNS));
        settings.put("gateway.apns.sandbox-channels-endpoint", https(Listener.APNS_SANDBOX));
        settings.put("gateway.apns.trusted-certificates", authority);
        settings.put("gateway.fcm.endpoint", https(Listener.FCM));
        settings.put("gateway.fcm.token-endpoint", https(Listener.FCM) + "/token");
        settings.put("gateway.fcm.trusted-certificates", authority);
        settings.put("gateway.hms.endpoint", https(Listener.HMS));
        settings.put("gateway.hms.token-endpoint", https(Listener.HMS) + "/oauth2/v3/token");
        settings.put("gateway.hms.trusted-certificates", authority);
        // Only here may a push service have an address of our own.
        settings.put("gateway.webpush.trusted-origins", https(Listener.WEBPUSH));
        settings.put("gateway.webpush.trusted-certificates", authority);
        settings.put("gateway.node.user", "gateway");
        settings.put("gateway.node.password", secrets.gatewayPassword());
      }
      case CONNECTION_MANAGER -> {
        platform(settings);
        settings.put("cm.node-id", "quickstart-1");
        settings.put("cm.bind", address.text());
        settings.put("cm.gateway-bind", PublicAddress.LOOPBACK);
        settings.put("cm.mqtt-port", Integer.toString(ports.of(Listener.MQTT)));
        settings.put("cm.tls-port", Integer.toString(ports.of(Listener.MQTT_TLS)));
        settings.put("cm.gateway-port", Integer.toString(ports.of(Listener.NODE)));
        settings.put("cm.tls.certificate", tls.certificate().toString());
        settings.put("cm.tls.private-key", tls.privateKey().toString());
        settings.put("cm.advertised-host", PublicAddress.LOOPBACK);
        settings.put("cm.gateway-user", "gateway");
        settings.put("cm.gateway-password", secrets.gatewayPassword());
      }
      case DASHBOARD -> {
        platform(settings);
        publicHttp(settings, Listener.DASHBOARD);
        settings.put("dashboard.dispatcher-url", publicUrl(Listener.DISPATCHER));
        settings.put("dashboard.bootstrap-operator.name", secrets.operatorUser());
        settings.put("dashboard.bootstrap-operator.password", secrets.operatorPassword());
      }
      case SIMULATORS -> settings.clear();
    }
    var environment = new LinkedHashMap<String, String>();
    settings.forEach((property, value) -> environment.put(Program.variable(property), value));
    if (program != Program.SIMULATORS) {
      further.forEach((property, value) -> environment.put(Program.variable(property), value));
    }
    return environment;
  }

  /// A program's own port, beside that of its management.
  private void publicHttp(Map<String, String> settings, Listener listener) {
    settings.put("server.port", Integer.toString(ports.of(listener)));
    settings.put("server.address", address.text());
    settings.put("management.server.address", PublicAddress.LOOPBACK);
  }

  /// The address of a public listener for programs of this machine.
  String publicUrl(Listener listener) {
    return "http://" + address.localHost() + ":" + ports.of(listener);
  }

  private void platform(Map<String, String> settings) {
    settings.put("pushplanet.mysql.url", services.mysql().jdbcUrl());
    settings.put("pushplanet.mysql.user", services.mysql().user());
    settings.put("pushplanet.mysql.password", services.mysql().password());
    settings.put("pushplanet.redis.uri", services.redis().toString());
    settings.put("pushplanet.amqp.uri", services.amqp().toString());
    settings.put("pushplanet.master-key", secrets.masterKey());
  }

  private String https(Listener listener) {
    return "https://localhost:" + ports.of(listener);
  }
}
