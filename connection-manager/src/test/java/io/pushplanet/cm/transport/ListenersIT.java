package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// The addresses that a connection knows: the listener's and the peer's.
class ListenersIT {
  private final CountDownLatch accepted = new CountDownLatch(1);
  private final CountDownLatch reset = new CountDownLatch(1);
  private final CompletableFuture<InetAddress> seen = new CompletableFuture<>();
  private final CompletableFuture<Optional<InetAddress>> later = new CompletableFuture<>();

  @Test
  void a_host_that_has_no_address_is_named_and_not_taken_for_all_addresses() {
    var listener =
        new Listener(
            "gateway",
            InetSocketAddress.createUnresolved("no-such-host.invalid", 0),
            null,
            false,
            64 * 1024,
            true,
            _ -> (Receiver) _ -> {});

    assertThatIllegalStateException()
        .isThrownBy(() ->
            Transport.start(
                    List.of(listener),
                    EchoServer.settings(1 << 20),
                    new AcceptGate(GateSettings.OPEN, 0, new SplittableRandom(1)),
                    new Heap(),
                    new SimpleMeterRegistry(),
                    System::nanoTime)
                .close())
        .withMessageContaining("the gateway listener cannot have no-such-host.invalid")
        .withMessageContaining("cm.bind");
  }

  /// A connection may be blamed after its end, because the bytes that the peer had sent are still
  /// there.
  @Test
  void a_reset_connection_still_has_its_source_until_it_is_authenticated() throws Exception {
    try (var transport = OneLoop.start(System::nanoTime, this::accepted)) {
      try (var socket = OneLoop.connect(transport)) {
        assertThat(accepted.await(60, TimeUnit.SECONDS)).isTrue();
        socket.getOutputStream().write(1);
        socket.setSoLinger(true, 0);
      }
      reset.countDown();

      assertThat(seen.get(60, TimeUnit.SECONDS)).isEqualTo(InetAddress.getByName("127.0.0.1"));
      assertThat(later.get(60, TimeUnit.SECONDS)).isEmpty();
    }
  }

  private Receiver accepted(Connection connection) {
    accepted.countDown();
    try {
      assertThat(reset.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return input -> {
      input.position(input.limit());
      seen.complete(connection.source());
      connection.authenticated();
      later.complete(Optional.ofNullable(connection.source()));
    };
  }
}
