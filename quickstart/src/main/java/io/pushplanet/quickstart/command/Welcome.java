package io.pushplanet.quickstart.command;

import io.pushplanet.quickstart.platform.Addresses;
import java.nio.file.Path;

/// The text that `up` prints once everything is ready.
final class Welcome {
  /// Its last words.
  static final String END = " stops everything, and so does ctrl-C in the foreground.";

  private Welcome() {}

  static String text(Addresses addresses, Path root, Path state) {
    String option = PushPlanet.stateOption(root, state);
    return """

    Push Planet is up.

      API          %s   (documentation: %s/docs)
    %s\
      MQTT         %s:%d, with TLS %d
      Listens on   %s
      App          %s
      API key      %s
      Simulators   %s   (they stand in for Apple, Google, Huawei and the browsers' push services)
      State, logs  %s

    Register a device, listen as it, and send to it:

      API=%s KEY=%s
      PASSWORD=$(curl -s -X PUT $API/v1/apps/%s/devices/d1 -H "Authorization: Bearer $KEY" \\
        -H 'Content-Type: application/json' -d '{"platform":"android","channels":{"mqtt":true}}' \\
        | sed -n 's/.*"password":"\\([^"]*\\)".*/\\1/p')
      mosquitto_sub -V mqttv5 -h %s -p %d -i d1 -u %s -P "$PASSWORD" -t push/messages -q 1 -c -x 86400 -v &
      curl -X POST $API/v1/apps/%s/messages -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
        -d '{"audience":{"device":"d1"},"content":{"title":"Shipped","body":"Order 77 is on its way"}}'

    ./pushplanet demo%s shows all channels at once. ./pushplanet down%s%s
    """
        .formatted(
            addresses.dispatcherUrl(),
            addresses.dispatcherUrl(),
            dashboard(addresses, state),
            addresses.mqttHost(),
            addresses.mqttPort(),
            addresses.mqttTlsPort(),
            reach(addresses, option),
            addresses.app(),
            addresses.apiKey(),
            addresses.simulatorsUrl(),
            state,
            addresses.dispatcherUrl(),
            addresses.apiKey(),
            addresses.app(),
            addresses.mqttHost(),
            addresses.mqttPort(),
            addresses.app(),
            addresses.app(),
            option,
            option,
            END);
  }

  private static String dashboard(Addresses addresses, Path state) {
    if (addresses.pids().dashboard() == 0) {
      return "";
    }
    String login =
        addresses.operatorPassword().isEmpty()
            ? "its operators are older than %s, which does not know their passwords; dashboard/README.md says how to add one"
                .formatted(state.resolve("secrets.json"))
            : "operator %s, password %s"
                .formatted(addresses.operatorUser(), addresses.operatorPassword());
    return "  Dashboard    %s   (%s)\n".formatted(addresses.dashboardUrl(), login);
  }

  private static String reach(Addresses addresses, String option) {
    return addresses.networkHost().isEmpty()
        ? addresses.listenAddress()
            + ", for this machine alone. ./pushplanet up%s --bind=0.0.0.0 also lets in others, such as a phone"
                .formatted(option)
        : addresses.listenAddress()
            + ": others reach API, dashboard and MQTT at %s, and no other port"
                .formatted(addresses.networkHost());
  }
}
