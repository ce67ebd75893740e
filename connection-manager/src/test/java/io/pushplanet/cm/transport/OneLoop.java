package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.LongSupplier;

/// Real sockets on a transport of one loop, whose time the test moves by hand.
final class OneLoop {
  private OneLoop() {}

  static Transport start(LongSupplier nanoTime, Function<Connection, Receiver> handlers) {
    var listener =
        new Listener(
            "test",
            new InetSocketAddress("127.0.0.1", 0),
            null,
            false,
            64 * 1024,
            false,
            handlers::apply);
    return Transport.start(
        List.of(listener),
        new TransportSettings(
            1, Sockets.AUTO, 64 * 1024 * 1024, Duration.ofMinutes(5), 1024, 1, 1000),
        new AcceptGate(GateSettings.OPEN, nanoTime.getAsLong(), new SplittableRandom(1)),
        new Heap(),
        new SimpleMeterRegistry(),
        nanoTime);
  }

  static Socket connect(Transport transport) throws IOException {
    return new Socket("127.0.0.1", transport.port("test"));
  }
}
