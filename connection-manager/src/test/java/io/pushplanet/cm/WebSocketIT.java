package io.pushplanet.cm;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.io.ByteArrayOutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.eclipse.paho.client.mqttv3.MqttClient;
import org.eclipse.paho.client.mqttv3.MqttConnectOptions;
import org.eclipse.paho.client.mqttv3.persist.MemoryPersistence;
import org.eclipse.paho.mqttv5.client.IMqttMessageListener;
import org.eclipse.paho.mqttv5.client.MqttConnectionOptions;
import org.eclipse.paho.mqttv5.common.MqttSubscription;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// MQTT over WebSocket with stock clients, and with the JDK's WebSocket for cases that those do not
/// cause.
class WebSocketIT {
  // Longer than one WebSocket frame with a 16-bit length, and than the loop's buffer.
  private static final String LONG = "{\"body\":\"" + "x".repeat(70_000) + "\"}";
  private static TestNode node;
  private static TestGateway gateway;

  private final DeviceKey device = TestNode.newDevice();

  @BeforeAll
  static void start() throws Exception {
    node = TestNode.start("--cm.ws-port=0");
    gateway = new TestGateway(node, "gw-ws");
  }

  @AfterAll
  static void stop() throws Exception {
    gateway.close();
    node.close();
  }

  @Test
  void paho_of_mqtt_3_gets_messages_of_every_length() throws Exception {
    BlockingQueue<byte[]> got = new LinkedBlockingQueue<>();
    var client = new MqttClient(address(), device.device().value(), new MemoryPersistence());
    var options = new MqttConnectOptions();
    options.setUserName(device.app().value());
    options.setPassword(TestNode.credential(device).toCharArray());
    client.connect(options);
    client.subscribe("push/messages", 1, (_, message) -> got.add(message.getPayload()));

    for (var payload : new String[] {"{}", "x".repeat(300), LONG}) {
      var outcome = gateway.deliver(device, TestNode.newMessage(), payload);

      assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo(payload.getBytes(UTF_8));
      assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    }
    client.disconnect();
    client.close();
  }

  @Test
  void paho_of_mqtt_5_gets_a_message() throws Exception {
    BlockingQueue<byte[]> got = new LinkedBlockingQueue<>();
    var client =
        new org.eclipse.paho.mqttv5.client.MqttClient(
            address(),
            device.device().value(),
            new org.eclipse.paho.mqttv5.client.persist.MemoryPersistence());
    var options = new MqttConnectionOptions();
    options.setUserName(device.app().value());
    options.setPassword(TestNode.credential(device).getBytes(UTF_8));
    client.connect(options);
    client.subscribe(
        new MqttSubscription[] {new MqttSubscription("push/messages", 1)},
        new IMqttMessageListener[] {(_, message) -> got.add(message.getPayload())});

    var outcome = gateway.deliver(device, TestNode.newMessage(), "{\"five\":5}");

    assertThat(got.poll(20, TimeUnit.SECONDS)).isEqualTo("{\"five\":5}".getBytes(UTF_8));
    assertThat(outcome.result()).isEqualTo(Result.DELIVERED);
    client.disconnect();
    client.close();
  }

  @Test
  void a_packet_may_come_in_fragments_with_pings_between_and_a_goodbye_is_answered()
      throws Exception {
    var heard = new Heard();
    try (var http = HttpClient.newHttpClient()) {
      var socket =
          http.newWebSocketBuilder()
              .subprotocols("mqtt")
              .buildAsync(URI.create(address()), heard)
              .get(20, TimeUnit.SECONDS);
      assertThat(socket.getSubprotocol()).isEqualTo("mqtt");
      var connect =
          new PacketEncoder().encode(RawClient.connect(MqttVersion.V5, device), MqttVersion.V5);
      int half = connect.length / 2;
      socket.sendBinary(ByteBuffer.wrap(connect, 0, half), false).get(20, TimeUnit.SECONDS);
      socket.sendPing(ByteBuffer.wrap(new byte[] {1, 2, 3})).get(20, TimeUnit.SECONDS);
      assertThat(heard.pongs.poll(20, TimeUnit.SECONDS))
          .isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));

      socket
          .sendBinary(ByteBuffer.wrap(connect, half, connect.length - half), true)
          .get(20, TimeUnit.SECONDS);

      var answer = heard.packets.poll(20, TimeUnit.SECONDS);
      assertThat(answer).isInstanceOf(MqttPacket.ConnAck.class);
      socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get(20, TimeUnit.SECONDS);
      assertThat(heard.closes.poll(20, TimeUnit.SECONDS)).isEqualTo(WebSocket.NORMAL_CLOSURE);
    }
  }

  @Test
  void packets_before_a_close_are_handled_and_the_close_is_answered() throws Exception {
    var heard = new Heard();
    var encoder = new PacketEncoder();
    try (var http = HttpClient.newHttpClient()) {
      var socket =
          http.newWebSocketBuilder()
              .subprotocols("mqtt")
              .buildAsync(URI.create(address()), heard)
              .get(20, TimeUnit.SECONDS);
      var connect = RawClient.withWill(RawClient.connect(MqttVersion.V5, device));
      socket
          .sendBinary(ByteBuffer.wrap(encoder.encode(connect, MqttVersion.V5)), true)
          .get(20, TimeUnit.SECONDS);
      assertThat(heard.packets.poll(20, TimeUnit.SECONDS)).isInstanceOf(MqttPacket.ConnAck.class);
      // More than a device may have unconfirmed at the broker.
      var said = IntStream.range(0, 100).mapToObj(Integer::toString).toList();
      var all = new ByteArrayOutputStream();
      for (var one : said) {
        all.writeBytes(
            encoder.encode(
                new MqttPacket.Publish(
                    "push/uplink",
                    Binary.of(one),
                    QoS.AT_MOST_ONCE,
                    false,
                    false,
                    0,
                    MqttProperties.NONE),
                MqttVersion.V5));
      }
      all.writeBytes(
          encoder.encode(
              new MqttPacket.Disconnect(ReasonCode.SUCCESS, MqttProperties.NONE), MqttVersion.V5));

      socket.sendBinary(ByteBuffer.wrap(all.toByteArray()), true).get(20, TimeUnit.SECONDS);
      socket.sendClose(WebSocket.NORMAL_CLOSURE, "").get(20, TimeUnit.SECONDS);

      assertThat(heard.closes.poll(20, TimeUnit.SECONDS)).isEqualTo(WebSocket.NORMAL_CLOSURE);
      assertThat(node.uplinksOf(device, said.size())).containsExactlyInAnyOrderElementsOf(said);
    }
  }

  @Test
  void a_refused_connect_is_told_in_a_frame_before_the_close() throws Exception {
    var heard = new Heard();
    try (var http = HttpClient.newHttpClient()) {
      var socket =
          http.newWebSocketBuilder()
              .subprotocols("mqtt")
              .buildAsync(URI.create(address()), heard)
              .get(20, TimeUnit.SECONDS);
      var connect = new PacketEncoder().encode(RawClient.withWrongPassword(), MqttVersion.V5);

      socket.sendBinary(ByteBuffer.wrap(connect), true).get(20, TimeUnit.SECONDS);

      var answer = heard.packets.poll(20, TimeUnit.SECONDS);
      assertThat(answer).isInstanceOf(MqttPacket.ConnAck.class);
      assertThat(((MqttPacket.ConnAck) answer).code()).isEqualTo(0x86);
      assertThat(heard.closes.poll(20, TimeUnit.SECONDS)).isEqualTo(WebSocket.NORMAL_CLOSURE);
    }
  }

  @Test
  void a_browser_that_looks_by_is_told_what_this_port_is_for() throws Exception {
    try (var socket = new Socket("127.0.0.1", node.port("ws"))) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(UTF_8));

      var answer = new String(socket.getInputStream().readAllBytes(), UTF_8);

      assertThat(answer).startsWith("HTTP/1.1 404 ").endsWith("MQTT is at /mqtt\n");
    }
  }

  private static String address() {
    return "ws://127.0.0.1:" + node.port("ws") + "/mqtt";
  }

  private static final class Heard implements WebSocket.Listener {
    final BlockingQueue<MqttPacket> packets = new LinkedBlockingQueue<>();
    final BlockingQueue<ByteBuffer> pongs = new LinkedBlockingQueue<>();
    final BlockingQueue<Integer> closes = new LinkedBlockingQueue<>();

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket socket, ByteBuffer data, boolean last) {
      if (new PacketDecoder().decode(data, MqttVersion.V5, PacketLimits.UNAUTHENTICATED)
          instanceof DecodeOutcome.Decoded(var packet)) {
        packets.add(packet);
      }
      socket.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onPong(WebSocket socket, ByteBuffer message) {
      var bytes = new byte[message.remaining()];
      message.get(bytes);
      pongs.add(ByteBuffer.wrap(bytes));
      socket.request(1);
      return null;
    }

    @Override
    public @Nullable CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
      closes.add(status);
      return null;
    }
  }
}
