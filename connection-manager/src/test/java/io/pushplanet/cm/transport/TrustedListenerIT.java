package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.GateSettings;
import io.pushplanet.cm.transport.tls.HandshakeQueue;
import io.pushplanet.common.testing.Eventually;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// A loop with two listeners for devices and one for our own programs.
class TrustedListenerIT {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /// Each listener's own share is enough for twenty peers.
  private static final int BUDGET = 16 * 20 * 512;

  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final Heap heap = new Heap();
  private final Descriptors descriptors = new Descriptors(1_000);
  private final AcceptGate gate =
      new AcceptGate(
          new GateSettings(0, 0, 0, 1, 100, ""), System.nanoTime(), new SplittableRandom(1));
  private final List<Socket> silent = new ArrayList<>();
  private EventLoop loop;
  private int everybodys;
  private int another;
  private int trusted;

  @BeforeEach
  void start() throws Exception {
    var listeners =
        List.of(listener("echo", false), listener("another", false), listener("trusted", true));
    loop =
        new EventLoop(
            0,
            new EventLoop.Shared(
                EchoServer.settings(BUDGET),
                new TransportMetrics(meters),
                new UnauthenticatedBudgets(BUDGET, listeners),
                new ByteBudget(BUDGET, null),
                gate,
                new HandshakeQueue(1, 1),
                new Pressure(meters),
                heap,
                descriptors,
                System::nanoTime));
    everybodys = listen(listeners.get(0));
    another = listen(listeners.get(1));
    trusted = listen(listeners.get(2));
    loop.start();
  }

  private static Listener listener(String name, boolean forOurOwn) {
    return new Listener(
        name,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        null,
        false,
        64 * 1024,
        forOurOwn,
        connection -> (Receiver) input -> EchoServer.echo(connection, input));
  }

  private int listen(Listener listener) throws Exception {
    return loop.listen(listener, listener.address(), 1024, gate.listenerRate());
  }

  @AfterEach
  void stop() throws Exception {
    for (var socket : silent) {
      socket.close();
    }
    loop.stop();
    loop.join(PATIENCE.toMillis());
  }

  @Test
  void our_own_come_in_while_strangers_hold_all_that_they_may() throws Exception {
    crowd(everybodys);

    assertServed(trusted);
  }

  @Test
  void unauthenticated_peers_that_crowd_one_device_listener_leave_the_others_open()
      throws Exception {
    crowd(everybodys);

    assertServed(another);
  }

  @Test
  void unauthenticated_peers_that_crowd_the_gateways_listener_leave_the_devices_open()
      throws Exception {
    crowd(trusted);

    assertServed(everybodys);
  }

  @Test
  void our_own_come_in_from_an_address_that_devices_failed_from_too_often() throws Exception {
    // An hour ahead, longer than this test takes.
    long then = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
    for (int wrong = 0; wrong < 100; wrong++) {
      gate.failed(InetAddress.getLoopbackAddress(), then);
    }

    assertServed(trusted);

    silent.add(connect(everybodys));
    var turnedAway =
        meters.get("cm.transport.accepted").tag("verdict", "address_failed_too_often").counter();
    Eventually.within(PATIENCE, () -> assertThat(turnedAway.count()).isEqualTo(1));
  }

  @Test
  void our_own_come_in_while_the_heap_is_full_of_devices() throws Exception {
    heap.read(99, 100, 0);
    silent.add(connect(everybodys));
    Eventually.within(PATIENCE, () -> assertThat(pressure("heap")).isEqualTo(1));

    assertServed(trusted);
  }

  @Test
  void our_own_come_in_while_devices_hold_all_descriptors_but_the_reserve() throws Exception {
    while (!descriptors.areScarce()) {
      var device = connect(everybodys);
      silent.add(device);
      assertThat(EchoServer.echoes(device)).isTrue();
    }
    assertThat(silent).hasSizeBetween(700, 750);
    var late = connect(everybodys);
    Eventually.within(PATIENCE, () -> assertThat(pressure("descriptors")).isEqualTo(1));

    assertServed(trusted);

    for (var device : silent) {
      device.close();
    }
    silent.add(late);
    late.setSoTimeout((int) PATIENCE.toMillis());
    assertThat(EchoServer.echoes(late)).as("who waited in the kernel's line").isTrue();
  }

  @Test
  void a_socket_that_is_held_before_it_is_closed_counts_as_a_descriptor() throws Exception {
    while (!descriptors.areScarce()) {
      descriptors.opened(1);
    }
    descriptors.closed(1);
    long then = System.nanoTime() + TimeUnit.HOURS.toNanos(1);
    for (int wrong = 0; wrong < 100; wrong++) {
      gate.failed(InetAddress.getLoopbackAddress(), then);
    }

    silent.add(connect(everybodys));
    silent.add(connect(everybodys));

    Eventually.within(PATIENCE, () -> assertThat(pressure("descriptors")).isEqualTo(1));
    var turnedAway =
        meters.get("cm.transport.accepted").tag("verdict", "address_failed_too_often").counter();
    Eventually.within(PATIENCE, () -> assertThat(turnedAway.count()).isEqualTo(2));
    Eventually.within(PATIENCE, () -> assertThat(descriptors.areScarce()).isFalse());
  }

  private void crowd(int port) throws Exception {
    for (int socket = 0; socket < 400; socket++) {
      silent.add(connect(port));
    }
    Eventually.within(PATIENCE, () -> assertThat(pressure("unauthenticated_bytes")).isEqualTo(1));
  }

  private static void assertServed(int port) throws Exception {
    try (var socket = connect(port)) {
      socket.setSoTimeout((int) PATIENCE.toMillis());
      assertThat(EchoServer.echoes(socket)).isTrue();
    }
  }

  private static Socket connect(int port) throws Exception {
    return new Socket(InetAddress.getLoopbackAddress(), port);
  }

  private double pressure(String kind) {
    return meters.get("cm.pressure").tag("kind", kind).gauge().value();
  }
}
