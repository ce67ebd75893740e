package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.Rate;
import io.pushplanet.cm.transport.tls.HandshakeQueue;
import io.pushplanet.cm.transport.tls.TlsIdentity;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The event loops and their listeners. Every loop has its own listening socket per address
/// (SO_REUSEPORT), so the kernel spreads connections over the loops and no loop hands one to
/// another. Thread-safe.
public final class Transport implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Transport.class);

  private final List<EventLoop> loops;
  private final Map<String, Integer> ports;
  private final HandshakeQueue handshakes;
  private final EventLoop.Shared shared;
  private final TransportWatch watch;

  private Transport(
      List<EventLoop> loops,
      Map<String, Integer> ports,
      EventLoop.Shared shared,
      TransportWatch watch) {
    this.loops = List.copyOf(loops);
    this.ports = Map.copyOf(ports);
    this.handshakes = shared.handshakes();
    this.shared = shared;
    this.watch = watch;
  }

  /// Binds every listener and starts the loops.
  ///
  /// @param heap is read regularly from now on
  /// @throws IllegalStateException when an address is taken; the message names the address and a
  ///     remedy
  public static Transport start(
      List<Listener> listeners,
      TransportSettings settings,
      AcceptGate gate,
      Heap heap,
      MeterRegistry meters,
      LongSupplier nanoTime) {
    var shared =
        new EventLoop.Shared(
            settings,
            new TransportMetrics(meters),
            new UnauthenticatedBudgets(settings.unauthenticatedBytes(), listeners),
            new ByteBudget(settings.partialBytes(), null),
            gate,
            new HandshakeQueue(settings.handshakeThreads(), settings.handshakesWaiting()),
            new Pressure(meters),
            heap,
            Descriptors.ofThisProcess(),
            nanoTime);
    var loops = new ArrayList<EventLoop>();
    var ports = new HashMap<String, Integer>();
    var rates = new HashMap<String, Rate>();
    int backlog = gate.backlog(settings.backlog(), settings.loops());
    try {
      for (int number = 0; number < settings.loops(); number++) {
        var loop = new EventLoop(number, shared);
        loops.add(loop);
        for (Listener listener : listeners) {
          int port = ports.getOrDefault(listener.name(), listener.address().getPort());
          if (listener.address().isUnresolved()) {
            // Without an address Java would listen on all addresses.
            throw new UnknownHostException(
                "the %s listener cannot have %s (no such host); set cm.bind, or cm.gateway-bind, to an address of this machine"
                    .formatted(listener.name(), listener.address().getHostString()));
          }
          if (number == 0 && port != 0) {
            refuseWhenTaken(listener, port);
          }
          Rate rate = rates.computeIfAbsent(listener.name(), _ -> gate.listenerRate());
          ports.put(listener.name(), listen(loop, listener, port, backlog, rate));
        }
      }
    } catch (IOException failed) {
      loops.forEach(EventLoop::abandon);
      throw new IllegalStateException("cannot open the listeners: " + failed.getMessage(), failed);
    } catch (RuntimeException | Error failed) {
      loops.forEach(EventLoop::abandon);
      throw failed;
    }
    loops.forEach(EventLoop::start);
    LOG.info("event=transport_started loops={} sockets={}", loops.size(), settings.sockets());
    List<TlsIdentity> identities =
        listeners.stream().map(Listener::tls).filter(Objects::nonNull).distinct().toList();
    var watch = new TransportWatch(identities, heap, shared.pressure(), nanoTime);
    watch.start();
    if (!identities.isEmpty()) {
      shared.handshakes().start();
      Gauge.builder(
              "cm.tls.certificate.expires", identities.getFirst(), TlsIdentity::notAfterSeconds)
          .register(meters);
    }
    var transport = new Transport(loops, ports, shared, watch);
    transport.register(meters);
    return transport;
  }

  /// Sets what each loop does after a standstill of more than three seconds; by default nothing.
  public void onStandstill(Standstill after) {
    loops.forEach(loop -> loop.onStandstill(after));
  }

  private void register(MeterRegistry meters) {
    Gauge.builder("cm.transport.connections", this, Transport::connections).register(meters);
    Gauge.builder("cm.transport.unauthenticated.bytes", this, Transport::unauthenticatedBytes)
        .register(meters);
    Gauge.builder("cm.transport.partial.bytes", shared.partials(), ByteBudget::held)
        .description(
            "Bytes that the node keeps for devices: incomplete packets, and packets that wait to be read; at most `cm.transport.partial-bytes`")
        .register(meters);
    Gauge.builder("cm.tls.handshakes.waiting", handshakes, HandshakeQueue::waiting)
        .register(meters);
    Gauge.builder("cm.tls.handshakes.running", handshakes, HandshakeQueue::running)
        .register(meters);
    FunctionCounter.builder("cm.tls.handshakes", handshakes, HandshakeQueue::done)
        .tag("outcome", "done")
        .register(meters);
    FunctionCounter.builder("cm.tls.handshakes", handshakes, HandshakeQueue::abandoned)
        .tag("outcome", "abandoned")
        .register(meters);
    FunctionCounter.builder("cm.tls.handshakes", handshakes, HandshakeQueue::givenUp)
        .tag("outcome", "given_up")
        .register(meters);
  }

  private static int listen(EventLoop loop, Listener listener, int port, int backlog, Rate rate)
      throws IOException {
    var address = new InetSocketAddress(listener.address().getAddress(), port);
    try {
      return loop.listen(listener, address, backlog, rate);
    } catch (IOException taken) {
      throw taken(listener, port, taken);
    }
  }

  /// With SO_REUSEPORT a second node of the same user would silently share the port, so the port is
  /// tried without it first.
  private static void refuseWhenTaken(Listener listener, int port) throws IOException {
    try (var probe = ServerSocketChannel.open()) {
      probe.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      probe.bind(new InetSocketAddress(listener.address().getAddress(), port), 1);
    } catch (IOException taken) {
      throw taken(listener, port, taken);
    }
  }

  private static IOException taken(Listener listener, int port, IOException cause) {
    return new IOException(
        "the %s listener cannot have %s:%d (%s); set cm.%s-port to a free one or 0"
            .formatted(
                listener.name(),
                listener.address().getHostString(),
                port,
                cause.getMessage(),
                listener.name()),
        cause);
  }

  /// The port of a listener, also where its setting is 0.
  public int port(String listener) {
    return ports.getOrDefault(listener, 0);
  }

  public Map<String, Integer> ports() {
    return ports;
  }

  public int connections() {
    return loops.stream().mapToInt(EventLoop::connections).sum();
  }

  public long unauthenticatedBytes() {
    return shared.unauthenticatedBudgets().held();
  }

  public List<EventLoop> loops() {
    return loops;
  }

  /// Accepts no new connections from now on.
  public void stopListening() {
    loops.forEach(EventLoop::stopListening);
  }

  /// Closes all connections, after their handlers' [last packets][ConnectionHandler#stopping].
  /// Waits at most five seconds for each loop.
  @Override
  public void close() {
    loops.forEach(EventLoop::stop);
    try {
      for (EventLoop loop : loops) {
        loop.join(5_000);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    handshakes.close();
    watch.close();
  }
}
