package io.pushplanet.quickstart.command;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A minimal MQTT server for one device at a time, which sends these messages to each subscriber.
final class TerseServer implements AutoCloseable {
  private final List<UUID> messages;
  private final BlockingQueue<Sent> sent = new LinkedBlockingQueue<>();
  private final ServerSocket server;

  /// The packet types of MQTT 5 (OASIS MQTT 5.0, 2.1.2).
  enum Sent {
    CONNECT(1),
    PUBLISH(3),
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

  TerseServer(UUID... messages) throws IOException {
    this.messages = List.of(messages);
    this.server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::serve);
  }

  /// Packets from devices that the test has not taken yet.
  BlockingQueue<Sent> sent() {
    return sent;
  }

  /// The answer to the registration of a device that then connects here.
  ObjectNode registration() {
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
    while (!server.isClosed()) {
      try (Socket device = server.accept()) {
        serve(new DataInputStream(device.getInputStream()), device.getOutputStream());
      } catch (SocketException closed) {
        // The test has ended.
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private void serve(DataInputStream in, OutputStream out) throws IOException {
    while (true) {
      int first = in.readUnsignedByte();
      byte[] body = new byte[in.readUnsignedByte()];
      in.readFully(body);
      Sent packet = Sent.of(first >> 4);
      sent.add(packet);
      switch (packet) {
        case CONNECT -> out.write(new byte[] {0x20, 3, 0, 0, 0});
        case SUBSCRIBE -> {
          out.write(new byte[] {(byte) 0x90, 4, body[0], body[1], 0, 1});
          for (int message = 0; message < messages.size(); message++) {
            out.write(publish(1 + message, messages.get(message)));
          }
        }
        case PUBLISH -> {
          int behindTopic = 2 + body[1];
          out.write(new byte[] {0x40, 2, body[behindTopic], body[behindTopic + 1]});
        }
        case PUBACK -> {}
        case DISCONNECT -> {
          return;
        }
      }
    }
  }

  /// With QoS 1.
  private static byte[] publish(int packetId, UUID message) {
    byte[] topic = "push/messages".getBytes(UTF_8);
    byte[] payload = "{\"id\":\"%s\"}".formatted(message).getBytes(UTF_8);
    int length = 2 + topic.length + 3 + payload.length;
    byte[] packet = new byte[2 + length];
    packet[0] = 0x32;
    packet[1] = (byte) length;
    packet[3] = (byte) topic.length;
    System.arraycopy(topic, 0, packet, 4, topic.length);
    packet[4 + topic.length + 1] = (byte) packetId;
    System.arraycopy(payload, 0, packet, 4 + topic.length + 3, payload.length);
    return packet;
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
