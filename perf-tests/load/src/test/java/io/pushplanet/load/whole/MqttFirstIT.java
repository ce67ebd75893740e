package io.pushplanet.load.whole;

import static io.pushplanet.load.whole.WholePlatform.PATIENCE;
import static io.pushplanet.load.whole.WholePlatform.content;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Secret;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.Connect;
import io.pushplanet.load.mqtt.DeviceTopics;
import io.pushplanet.load.mqtt.MqttVersion;
import io.pushplanet.load.mqtt.ServerPackets;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.eclipse.paho.mqttv5.client.IMqttMessageListener;
import org.eclipse.paho.mqttv5.client.MqttClient;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.client.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.common.MqttException;
import org.eclipse.paho.mqttv5.common.MqttMessage;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A connected device's late or negative answers to a message, through all processes as shipped.
class MqttFirstIT {
  private static final JsonMapper JSON = JsonMapper.shared();

  @TempDir static Path state;
  private static WholePlatform whole;

  @BeforeAll
  static void up() {
    whole = new WholePlatform(state);
  }

  @AfterAll
  static void down() {
    whole.close();
  }

  @Test
  void a_late_puback_calls_off_the_waiting_fallback() throws Exception {
    var device = "late-" + UUID.randomUUID();
    var token = "token-" + device;
    var mqtt = register(device, "{\"mqtt\":true,\"hms\":{\"token\":\"" + token + "\"}}");
    // Without an access token no request to Huawei is possible: the fallback waits.
    whole.simulators.call("POST", "/scenario", "hms_oauth answer 503");
    try (var client = new LatePaho(mqtt)) {
      var id = whole.send(audience(device), content("late"), "{\"fallback_after\":\"PT1S\"}");
      var message = client.next();
      assertThat(id(message.getPayload())).isEqualTo(id);
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(whole.timeline(id))
                  .contains("falls back to hms")
                  .contains("\"channel\":\"hms\"")
                  .contains("retry at"));

      client.acknowledge(message);

      whole.delivered(id);
      whole.simulators.call("DELETE", "/script", "");
      Eventually.within(PATIENCE.multipliedBy(2), () -> assertThat(waitingInLater()).isZero());
      // After it in the same lane.
      var next = whole.send(audience(device), content("next"), "{\"route\":\"vendor\"}");
      whole.delivered(next);
      assertThat(whole.simulators.call("GET", "/ledger?token=" + token, "").body().toString())
          .contains(next)
          .doesNotContain(id);
      assertThat(whole.counts(id).path("delivered").asInt()).isOne();
      assertThat(whole.counts(id).path("duplicates").asInt()).isZero();
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(whole.timeline(id))
                  .contains("acknowledged late")
                  .contains("delivered by mqtt; fallback cancelled"));
    }
  }

  @Test
  void a_refused_message_fails_and_is_not_sent_again() throws Exception {
    var device = "refuses-" + UUID.randomUUID();
    var mqtt = register(device, "{\"mqtt\":true}");
    try (var client = new RefusingDevice(mqtt)) {
      var refused = whole.send(audience(device), content("refused"), "{}");
      assertThat(client.refuseNext()).isEqualTo(refused);
      Eventually.within(
          PATIENCE,
          () ->
              assertThat(whole.counts(refused).path("failed").asInt())
                  .as(() -> whole.timeline(refused))
                  .isOne());
      var next = whole.send(audience(device), content("next"), "{}");

      assertThat(client.refuseNext()).isEqualTo(next);
      assertThat(whole.attempts(refused)).isOne();
      assertThat(whole.timeline(refused))
          .contains("refused_by_device")
          .contains("the device answered NOT_AUTHORIZED");
    }
  }

  private static JsonNode register(String device, String channels) throws Exception {
    var registered =
        whole.api.call(
            "PUT",
            "/devices/" + device,
            "{\"platform\":\"android\",\"channels\":" + channels + "}");
    assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
    return registered.body().path("mqtt");
  }

  private static String audience(String device) {
    return "{\"device\":\"" + device + "\"}";
  }

  private static String id(byte[] payload) {
    return JSON.readTree(payload).path("id").asString();
  }

  private static int waitingInLater() throws Exception {
    var mysql = whole.platform.services().mysql();
    try (var connection =
            DriverManager.getConnection(mysql.jdbcUrl(), mysql.user(), mysql.password());
        var statement = connection.createStatement();
        var count = statement.executeQuery("SELECT COUNT(*) FROM later")) {
      count.next();
      return count.getInt(1);
    }
  }

  /// A stock client that acknowledges on command.
  private static final class LatePaho implements AutoCloseable {
    private final MqttClient client;
    private final BlockingQueue<MqttMessage> arrived = new LinkedBlockingQueue<>();

    LatePaho(JsonNode mqtt) throws MqttException {
      client =
          new MqttClient(
              "tcp://" + mqtt.path("host").asString() + ":" + mqtt.path("port").asInt(),
              mqtt.path("client_id").asString(),
              new MemoryPersistence());
      client.setManualAcks(true);
      var options = new MqttConnectionOptions();
      options.setUserName(mqtt.path("username").asString());
      options.setPassword(mqtt.path("password").asString().getBytes(StandardCharsets.UTF_8));
      // A device that is silent after a message counts as gone.
      options.setKeepAliveInterval(5);
      client.connect(options);
      client.subscribe(
          new MqttSubscription[] {new MqttSubscription("push/messages", 1)},
          new IMqttMessageListener[] {(_, message) -> arrived.add(message)});
    }

    MqttMessage next() throws InterruptedException {
      var message = arrived.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      assertThat(message).isNotNull();
      return message;
    }

    void acknowledge(MqttMessage message) throws MqttException {
      client.messageArrivedComplete(message.getId(), message.getQos());
    }

    @Override
    public void close() throws MqttException {
      client.disconnectForcibly(0, 1_000);
      client.close(true);
    }
  }

  /// MQTT 5 by hand: stock clients do not refuse messages.
  private static final class RefusingDevice implements AutoCloseable {
    private static final byte NOT_AUTHORIZED = (byte) 0x87;

    private final Socket socket;
    private final DataInputStream in;

    private record Packet(int type, ByteBuffer body) {}

    RefusingDevice(JsonNode mqtt) throws IOException {
      socket = new Socket(mqtt.path("host").asString(), mqtt.path("port").asInt());
      socket.setSoTimeout((int) PATIENCE.toMillis());
      in = new DataInputStream(socket.getInputStream());
      send(
          ClientPackets.connect(
              new Connect(
                  MqttVersion.V5,
                  mqtt.path("client_id").asString(),
                  mqtt.path("username").asString(),
                  new Secret(mqtt.path("password").asString()),
                  Duration.ofMinutes(5),
                  Duration.ZERO)));
      assertThat(next().type()).isEqualTo(ServerPackets.CONNACK);
      send(ClientPackets.subscribe(MqttVersion.V5, 1, DeviceTopics.MESSAGES, 1));
      assertThat(next().type()).isEqualTo(ServerPackets.SUBACK);
    }

    /// Refuses the next message.
    ///
    /// @return its id
    String refuseNext() throws IOException {
      var packet = next();
      assertThat(packet.type()).isEqualTo(ServerPackets.PUBLISH);
      var body = packet.body();
      body.position(body.position() + 2 + body.getShort(body.position()));
      byte high = body.get();
      byte low = body.get();
      int properties = variableInt(body::get);
      body.position(body.position() + properties);
      var payload = new byte[body.remaining()];
      body.get(payload);
      send(new byte[] {0x40, 3, high, low, NOT_AUTHORIZED});
      return id(payload);
    }

    private interface Bytes {
      byte next() throws IOException;
    }

    private static int variableInt(Bytes from) throws IOException {
      int value = 0;
      for (int shift = 0; ; shift += 7) {
        byte next = from.next();
        value |= (next & 0x7F) << shift;
        if (next >= 0) {
          return value;
        }
      }
    }

    private Packet next() throws IOException {
      int header = in.readUnsignedByte();
      return new Packet(header >> 4, ByteBuffer.wrap(in.readNBytes(variableInt(in::readByte))));
    }

    private void send(byte[] packet) throws IOException {
      socket.getOutputStream().write(packet);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }
}
