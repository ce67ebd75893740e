package io.pushplanet.quickstart.platform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Against a server that says no more than it must: what the device sends is looked at packet by packet.
class DemoDeviceTest {
  private static final Duration SOON = Duration.ofSeconds(20);
  private static final UUID MESSAGE = UUID.fromString("01a206f0-5ea2-7dcf-9e26-27de832eecf0");

  private final BlockingQueue<Sent> sent = new LinkedBlockingQueue<>();
  private ServerSocket server;

  /// The packet types of MQTT 5 (OASIS MQTT 5.0, 2.1.2).
  private enum Sent {
    CONNECT(1),
    PUBACK(4),
    SUBSCRIBE(8),
    DISCONNECT(14);

    private final int type;

    Sent(int type) {
      this.type = type;
    }

    static Sent of(int type) {
      for (Sent known : values()) {
        if (known.type == type) {
          return known;
        }
      }
      throw new IllegalArgumentException("packet type " + type);
    }
  }

  @BeforeEach
  void listen() throws IOException {
    server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::serve);
  }

  @AfterEach
  void close() throws IOException {
    server.close();
  }

  @Test
  void a_message_is_acknowledged_when_it_is_waited_for_and_before_the_goodbye() throws Exception {
    try (DemoDevice device = DemoDevice.connect(registration())) {
      assertThat(sent.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Sent.CONNECT);
      assertThat(sent.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Sent.SUBSCRIBE);
      // By itself the client would acknowledge sooner or later, and perhaps after its goodbye.
      assertThat(sent.poll(500, TimeUnit.MILLISECONDS)).isNull();

      assertThat(device.awaitMessage(MESSAGE, SOON)).isTrue();
    }
    assertThat(sent.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Sent.PUBACK);
    assertThat(sent.poll(SOON.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Sent.DISCONNECT);
  }

  private ObjectNode registration() {
    ObjectNode registration = JsonMapper.shared().createObjectNode();
    registration
        .putObject("mqtt")
        .put("host", "127.0.0.1")
        .put("port", server.getLocalPort())
        .put("client_id", "demo-sensor")
        .put("username", "demo")
        .put("password", "secret");
    return registration;
  }

  private void serve() {
    try (Socket device = server.accept()) {
      DataInputStream in = new DataInputStream(device.getInputStream());
      OutputStream out = device.getOutputStream();
      while (true) {
        Sent packet = Sent.of(in.readUnsignedByte() >> 4);
        byte[] body = new byte[in.readUnsignedByte()];
        in.readFully(body);
        sent.add(packet);
        switch (packet) {
          case CONNECT -> out.write(new byte[] {0x20, 3, 0, 0, 0});
          case SUBSCRIBE -> {
            out.write(new byte[] {(byte) 0x90, 4, body[0], body[1], 0, 1});
            out.write(publish());
          }
          case PUBACK -> {}
          case DISCONNECT -> {
            return;
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// With QoS 1 and the identifier 7.
  private static byte[] publish() {
    byte[] topic = "push/messages".getBytes(UTF_8);
    byte[] payload = "{\"id\":\"%s\"}".formatted(MESSAGE).getBytes(UTF_8);
    int length = 2 + topic.length + 3 + payload.length;
    byte[] packet = new byte[2 + length];
    packet[0] = 0x32;
    packet[1] = (byte) length;
    packet[3] = (byte) topic.length;
    System.arraycopy(topic, 0, packet, 4, topic.length);
    packet[4 + topic.length + 1] = 7;
    System.arraycopy(payload, 0, packet, 4 + topic.length + 3, payload.length);
    return packet;
  }
}
