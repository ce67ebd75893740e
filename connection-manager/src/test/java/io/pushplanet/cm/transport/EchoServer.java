package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// A real transport whose connections echo every byte, and authenticate with the first one.
final class EchoServer implements AutoCloseable {
  final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  final AtomicInteger handlers = new AtomicInteger();
  private final Transport transport;

  EchoServer(GateSettings gate) {
    this(gate, Sockets.AUTO);
  }

  EchoServer(GateSettings gate, Sockets sockets) {
    this(gate, null, settings(2, sockets, 64 * 1024 * 1024));
  }

  EchoServer(GateSettings gate, @Nullable TlsIdentity tls, TransportSettings settings) {
    this(gate, tls, settings, System::nanoTime);
  }

  EchoServer(
      GateSettings gate,
      @Nullable TlsIdentity tls,
      TransportSettings settings,
      LongSupplier nanoTime) {
    var listener =
        new Listener(
            "echo",
            new InetSocketAddress("127.0.0.1", 0),
            tls,
            false,
            64 * 1024,
            false,
            connection -> {
              handlers.incrementAndGet();
              return (Receiver) input -> echo(connection, input);
            });
    transport =
        Transport.start(
            List.of(listener),
            settings,
            new AcceptGate(gate, nanoTime.getAsLong(), new SplittableRandom(1)),
            new Heap(),
            meters,
            nanoTime);
  }

  static TransportSettings settings(long unauthenticatedBytes) {
    return settings(2, Sockets.AUTO, unauthenticatedBytes);
  }

  static TransportSettings oneLoop() {
    return settings(1, Sockets.AUTO, 64 * 1024 * 1024);
  }

  private static TransportSettings settings(int loops, Sockets sockets, long unauthenticatedBytes) {
    return new TransportSettings(
        loops,
        sockets,
        unauthenticatedBytes,
        1 << 20,
        Duration.ofSeconds(30),
        Duration.ZERO,
        1024,
        1,
        1000);
  }

  int port() {
    return transport.port("echo");
  }

  int connections() {
    return transport.connections();
  }

  /// The only loop, or the first one.
  EventLoop loop() {
    return transport.loops().getFirst();
  }

  Socket connect() throws Exception {
    var socket = new Socket("127.0.0.1", port());
    socket.setSoTimeout(30_000);
    return socket;
  }

  /// Whether the server echoes; false when it has closed.
  static boolean echoes(Socket socket) throws Exception {
    try {
      socket.getOutputStream().write(7);
      return socket.getInputStream().read() == 7;
    } catch (java.net.SocketException closed) {
      return false;
    }
  }

  double gauge(String name, String tag, String value) {
    return meters.get(name).tag(tag, value).gauge().value();
  }

  double counter(String name, String tag, String value) {
    return meters.get(name).tag(tag, value).counter().count();
  }

  @Override
  public void close() {
    transport.close();
  }

  static void echo(Connection connection, ByteBuffer input) {
    connection.authenticated();
    var bytes = new byte[input.remaining()];
    input.get(bytes);
    connection.write(bytes);
  }
}
