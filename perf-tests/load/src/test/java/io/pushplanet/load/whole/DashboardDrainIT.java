package io.pushplanet.load.whole;

import static io.pushplanet.load.whole.WholePlatform.PATIENCE;
import static io.pushplanet.load.whole.WholePlatform.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.dashboard.browser.Chromium;
import io.pushplanet.load.node.PlatformNode;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.paho.mqttv5.client.IMqttToken;
import org.eclipse.paho.mqttv5.client.MqttCallback;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.MqttDisconnectResponse;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.packet.MqttProperties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/// An operator drains a node of a whole platform on the dashboard's page, with the notice for load
/// balancers as shipped.
class DashboardDrainIT {
  private static final int USE_ANOTHER_SERVER = 0x9C;

  @TempDir private Path state;

  @Test
  void a_drained_node_is_not_ready_before_its_device_is_sent_to_another_one() throws Exception {
    try (var whole = new WholePlatform(state);
        // It starts after the platform's own node, and so it knows where devices can go.
        var leaving = new PlatformNode(whole.platform, "leaving");
        var threads = Executors.newVirtualThreadPerTaskExecutor();
        var chromium = Chromium.open(whole.at.dashboardUrl())) {
      leaving.start();
      var id = "drained-" + UUID.randomUUID();
      try (var device = new PahoDevice(register(whole, id), leaving)) {
        chromium.login(whole.at.operatorUser(), whole.at.operatorPassword());
        Eventually.within(
            PATIENCE, () -> assertThat(chromium.go("/nodes").text()).contains(leaving.id()));
        whole.delivered(whole.send("{\"device\":\"" + id + "\"}", content("before"), "{}"));
        assertThat(readiness(leaving)).isEqualTo(200);
        var unready = threads.submit(() -> unreadySinceNanos(leaving));

        chromium.go("/nodes/" + leaving.id() + "/drain").press("Drain");

        assertThat(chromium.text()).contains(leaving.id() + " takes no new devices");
        var end = device.end();
        assertThat(end.reason()).isEqualTo(USE_ANOTHER_SERVER);
        assertThat(unready.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isLessThan(end.atNanos());
        Eventually.within(
            PATIENCE, () -> assertThat(chromium.go("/nodes").text()).contains("Devices moved: 1"));
        assertThat(readiness(leaving)).isEqualTo(503);
      }
    }
  }

  private static JsonNode register(WholePlatform whole, String device) throws Exception {
    var registered =
        whole.api.call(
            "PUT", "/devices/" + device, "{\"platform\":\"iot\",\"channels\":{\"mqtt\":true}}");
    assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
    return registered.body().path("mqtt");
  }

  /// The first moment at which a load balancer saw that the node is not ready.
  private static long unreadySinceNanos(PlatformNode node) {
    Eventually.within(PATIENCE.multipliedBy(2), () -> assertThat(readiness(node)).isEqualTo(503));
    return System.nanoTime();
  }

  private static int readiness(PlatformNode node) throws Exception {
    try (var management = new Api("http://127.0.0.1:" + node.managementPort(), "")) {
      return management.call("GET", "/actuator/health/readiness", "").status();
    }
  }

  /// A stock client that is connected to one node and tells how that ended.
  private static final class PahoDevice implements MqttCallback, AutoCloseable {
    private final MqttClient client;
    private final BlockingQueue<End> ends = new LinkedBlockingQueue<>();

    /// @param reason of the server's DISCONNECT
    record End(int reason, long atNanos) {}

    PahoDevice(JsonNode mqtt, PlatformNode node) throws MqttException {
      client =
          new MqttClient(
              "tcp://" + node.mqtt().getHostString() + ":" + node.mqtt().getPort(),
              mqtt.path("client_id").asString(),
              new MemoryPersistence());
      client.setCallback(this);
      var options = new MqttConnectionOptions();
      options.setUserName(mqtt.path("username").asString());
      options.setPassword(mqtt.path("password").asString().getBytes(StandardCharsets.UTF_8));
      options.setAutomaticReconnect(false);
      client.connect(options);
      client.subscribe("push/messages", 1);
    }

    End end() throws InterruptedException {
      var end = ends.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(end).isNotNull();
      return end;
    }

    @Override
    public void disconnected(MqttDisconnectResponse response) {
      ends.add(new End(response.getReturnCode(), System.nanoTime()));
    }

    @Override
    public void mqttErrorOccurred(MqttException exception) {}

    @Override
    public void messageArrived(String topic, MqttMessage message) {}

    @Override
    public void deliveryComplete(IMqttToken token) {}

    @Override
    public void connectComplete(boolean reconnect, String serverUri) {}

    @Override
    public void authPacketArrived(int reasonCode, MqttProperties properties) {}

    @Override
    public void close() throws MqttException {
      client.disconnectForcibly(0, 1_000);
      client.close(true);
    }
  }
}
