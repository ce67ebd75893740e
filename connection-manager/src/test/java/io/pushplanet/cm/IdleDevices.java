package io.pushplanet.cm;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.session.DeviceKey;
import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import javax.net.SocketFactory;

/// Devices that connect, subscribe and stay silent, in a JVM of their own, so that their sockets
/// are not in the node's heap. Each input line says how many more; an output line answers when they
/// have subscribed. Ends with its input.
final class IdleDevices implements AutoCloseable {
  private static final int TOGETHER = 250;
  private static final byte[] CONNACK = {0x20, 2, 0, 0};
  private static final byte[] SUBACK = {(byte) 0x90, 3, 0, 1, 1};

  private final Process process;
  private final BufferedReader answers;

  private IdleDevices(Process process) {
    this.process = process;
    this.answers = process.inputReader(StandardCharsets.UTF_8);
  }

  /// @param tls whether they connect over TLS, trusting any certificate
  static IdleDevices start(int port, boolean tls) throws IOException {
    return new IdleDevices(ClientJvm.start(IdleDevices.class, port, tls));
  }

  /// Connects this many more devices; they have subscribed when this returns.
  void connect(int more) throws IOException {
    process.outputWriter(StandardCharsets.UTF_8).append(more + "\n").flush();
    if (answers.readLine() == null) {
      throw new IOException("the devices have ended");
    }
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }

  public static void main(String[] arguments) throws Exception {
    int port = Integer.parseInt(arguments[0]);
    SocketFactory factory =
        Boolean.parseBoolean(arguments[1])
            ? new TestCertificate.Witness().context().getSocketFactory()
            : SocketFactory.getDefault();
    List<Socket> sockets = new ArrayList<>();
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (var line = input.readLine(); line != null; line = input.readLine()) {
      int wanted = sockets.size() + Integer.parseInt(line);
      while (sockets.size() < wanted) {
        sockets.addAll(connect(factory, port, Math.min(TOGETHER, wanted - sockets.size())));
      }
      System.out.println(sockets.size());
    }
  }

  /// All send first and read later, because the node answers them together.
  private static List<Socket> connect(SocketFactory factory, int port, int number)
      throws IOException {
    List<Socket> sockets = new ArrayList<>();
    for (int index = 0; index < number; index++) {
      var socket = factory.createSocket("127.0.0.1", port);
      socket.setSoTimeout(30_000);
      sockets.add(socket);
      var device = new DeviceKey(TestNode.APP, new DeviceId(UUID.randomUUID().toString()));
      write(
          socket,
          new MqttPacket.Connect(
              MqttVersion.V3_1_1,
              true,
              0,
              device.device().value(),
              device.app().value(),
              Binary.of(TestNode.credential(device)),
              null,
              MqttProperties.NONE));
    }
    for (var socket : sockets) {
      expect(socket, CONNACK);
      write(
          socket,
          new MqttPacket.Subscribe(
              1,
              List.of(new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
              MqttProperties.NONE));
    }
    for (var socket : sockets) {
      expect(socket, SUBACK);
    }
    return sockets;
  }

  private static void write(Socket socket, MqttPacket packet) throws IOException {
    socket.getOutputStream().write(new PacketEncoder().encode(packet, MqttVersion.V3_1_1));
  }

  private static void expect(Socket socket, byte[] packet) throws IOException {
    var answer = new byte[packet.length];
    new DataInputStream(socket.getInputStream()).readFully(answer);
    if (!Arrays.equals(answer, packet)) {
      throw new IOException("the node answers " + Arrays.toString(answer));
    }
  }
}
