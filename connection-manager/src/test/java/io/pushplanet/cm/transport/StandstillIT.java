package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class StandstillIT {
  private final BlockingQueue<String> happened = new LinkedBlockingQueue<>();
  private final AtomicLong jumpedNanos = new AtomicLong();

  @Test
  void a_loop_that_stood_still_tells_before_it_reads_what_came_meanwhile() throws Exception {
    try (var transport = start();
        var client = new Socket("127.0.0.1", transport.port("test"))) {
      transport.onStandstill(gap -> happened.add(gap.toSeconds() >= 60 ? "stood still" : "hiccup"));
      client.getOutputStream().write(1);
      assertThat(next()).isEqualTo("read");

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.getOutputStream().write(2);

      assertThat(next()).isEqualTo("stood still");
      assertThat(next()).isEqualTo("read");
    }
  }

  /// A loaded machine may stand still for seconds of its own.
  private String next() throws InterruptedException {
    String next;
    do {
      next = happened.poll(30, TimeUnit.SECONDS);
    } while ("hiccup".equals(next));
    return String.valueOf(next);
  }

  private Transport start() {
    var listener =
        new Listener(
            "test",
            new InetSocketAddress("127.0.0.1", 0),
            null,
            false,
            64 * 1024,
            connection -> new Reader(connection, happened));
    return Transport.start(
        List.of(listener),
        new TransportSettings(1, 1 << 20, Duration.ofHours(1), 16, 1, 1000),
        new AcceptGate(
            new GateSettings(0, 0, 1, 0, 0, ""), System.nanoTime(), new SplittableRandom(1)),
        new SimpleMeterRegistry(),
        () -> System.nanoTime() + jumpedNanos.get());
  }

  private record Reader(Connection connection, BlockingQueue<String> happened)
      implements ConnectionHandler {
    @Override
    public void received(ByteBuffer input) {
      connection.authenticated();
      input.position(input.limit());
      happened.add("read");
    }

    @Override
    public void flushed() {}

    @Override
    public boolean swept(long nowNanos) {
      return false;
    }

    @Override
    public void closed(CloseCause cause) {}
  }
}
