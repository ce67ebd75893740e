package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.socket.ListeningSocket;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// An acceptor whose kernel refuses every connection. [DescriptorsIT] tests a real lack of
/// descriptors.
class AcceptorTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final AcceptGate gate = new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1));

  @Test
  void another_refusal_of_the_kernel_is_not_reported_as_missing_descriptors() throws Exception {
    try (var sockets = new FakeSockets(gate, meters, System::nanoTime, _ -> (Receiver) _ -> {})) {
      var loop = sockets.loop();
      var refusing = new RefusingSocket();
      var accepted = new CountDownLatch(1);

      loop.execute(() -> {
        new Acceptor(loop, refusing, listener(), gate.listenerRate()).accept();
        accepted.countDown();
      });

      assertThat(accepted.await(20, TimeUnit.SECONDS)).isTrue();
      assertThat(refusing.listening).isFalse();
      assertThat(pressure("kernel")).isOne();
      assertThat(pressure("descriptors")).isZero();
    }
  }

  private double pressure(String kind) {
    return meters.get("cm.pressure").tag("kind", kind).gauge().value();
  }

  private static Listener listener() {
    var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    return new Listener("fake", address, null, false, 1, false, _ -> (Receiver) _ -> {});
  }

  private static final class RefusingSocket implements ListeningSocket {
    volatile boolean listening = true;

    @Override
    public int port() {
      return 0;
    }

    @Override
    public void open(Object owner) {}

    @Override
    public void listening(boolean wanted) {
      listening = wanted;
    }

    @Override
    public Arrival accept() throws IOException {
      throw new IOException("No buffer space available (accept4)");
    }

    @Override
    public void close() {}
  }
}
