package io.pushplanet.load.whole;

import static io.pushplanet.load.whole.WholePlatform.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.quickstart.platform.PublicAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// A platform that `up --bind=0.0.0.0` has opened to its network.
@EnabledOnOs(OS.LINUX)
class OpenPlatformIT {
  @TempDir private Path state;

  @Test
  void others_reach_the_api_the_dashboard_and_mqtt_and_nothing_else() throws Exception {
    try (var whole = new WholePlatform(state, PublicAddress.parse("0.0.0.0"))) {
      var at = whole.at;
      assertThat(at.dispatcherUrl()).startsWith("http://127.0.0.1:");
      assertThat(at.mqttHost()).isEqualTo("127.0.0.1");
      int api = URI.create(at.dispatcherUrl()).getPort();
      int dashboard = URI.create(at.dashboardUrl()).getPort();

      assertThat(ListeningSockets.below(state))
          .filteredOn(socket -> !socket.getAddress().isLoopbackAddress())
          .extracting(InetSocketAddress::getPort)
          .containsOnly(api, dashboard, at.mqttPort(), at.mqttTlsPort());

      // As a phone in the same network.
      String host = at.networkHost();
      try (var phone =
          new Api("http://" + host + ":" + api + "/v1/apps/" + at.app(), at.apiKey())) {
        var registered =
            phone.call(
                "PUT", "/devices/phone", "{\"platform\":\"android\",\"channels\":{\"mqtt\":true}}");
        assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
        var mqtt = registered.body().path("mqtt");
        assertThat(mqtt.path("host").asString()).isEqualTo(host);
        try (var socket = new Socket()) {
          socket.connect(
              new InetSocketAddress(host, mqtt.path("port").asInt()), (int) PATIENCE.toMillis());
        }
      }
    }
  }
}
