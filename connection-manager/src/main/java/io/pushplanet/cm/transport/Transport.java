package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// The event loops and their listeners. Every loop has its own listening socket per address (SO_REUSEPORT), so the kernel
/// spreads connections and no loop hands one to another. Thread-safe.
public final class Transport implements AutoCloseable {
  private static final int TLS_THREADS = 2;
  private static final int TLS_QUEUE = 4096;

  private final List<EventLoop> loops;
  private final Map<String, Integer> ports;
  private final ThreadPoolExecutor tlsTasks;
  private final ByteBudget unauthenticated;

  private Transport(
      List<EventLoop> loops,
      Map<String, Integer> ports,
      ThreadPoolExecutor tlsTasks,
      ByteBudget unauthenticated) {
    this.loops = List.copyOf(loops);
    this.ports = Map.copyOf(ports);
    this.tlsTasks = tlsTasks;
    this.unauthenticated = unauthenticated;
  }

  /// Binds every listener and starts the loops.
  ///
  /// @throws IllegalStateException when an address is taken, naming it and the way out
  public static Transport start(
      List<Listener> listeners,
      TransportSettings settings,
      MeterRegistry meters,
      LongSupplier nanoTime) {
    var metrics = new TransportMetrics(meters);
    var budget = new ByteBudget(settings.unauthenticatedBytes());
    var tlsTasks =
        new ThreadPoolExecutor(
            TLS_THREADS,
            TLS_THREADS,
            1,
            TimeUnit.MINUTES,
            new ArrayBlockingQueue<>(TLS_QUEUE),
            Thread.ofPlatform().name("cm-tls-", 0).daemon().factory());
    tlsTasks.allowCoreThreadTimeOut(true);
    var loops = new ArrayList<EventLoop>();
    var ports = new HashMap<String, Integer>();
    var opened = new ArrayList<ServerSocketChannel>();
    try {
      for (int number = 0; number < settings.loops(); number++) {
        var loop = new EventLoop(number, settings, metrics, budget, tlsTasks, nanoTime);
        for (var listener : listeners) {
          int port = ports.getOrDefault(listener.name(), listener.address().getPort());
          var channel = bind(listener, port, settings, number == 0);
          opened.add(channel);
          ports.put(listener.name(), channel.socket().getLocalPort());
          loop.listen(channel, listener);
        }
        loops.add(loop);
      }
    } catch (IOException failed) {
      opened.forEach(EventLoop::closeQuietly);
      throw new IllegalStateException("cannot open the listeners: " + failed.getMessage(), failed);
    }
    loops.forEach(EventLoop::start);
    var transport = new Transport(loops, ports, tlsTasks, budget);
    Gauge.builder("cm.transport.connections", transport, Transport::connections).register(meters);
    Gauge.builder("cm.transport.unauthenticated.bytes", budget, ByteBudget::held).register(meters);
    return transport;
  }

  /// What each loop does after it stood still for more than three seconds; nothing unless set.
  public void onStandstill(Standstill after) {
    loops.forEach(loop -> loop.onStandstill(after));
  }

  private static ServerSocketChannel bind(
      Listener listener, int port, TransportSettings settings, boolean first) throws IOException {
    if (first && port != 0) {
      refuseWhenTaken(listener, port);
    }
    var channel = ServerSocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.setOption(StandardSocketOptions.SO_REUSEPORT, true);
      channel.bind(
          new InetSocketAddress(listener.address().getAddress(), port), settings.backlog());
      return channel;
    } catch (IOException taken) {
      EventLoop.closeQuietly(channel);
      throw taken(listener, port, taken);
    }
  }

  /// With SO_REUSEPORT a second node of the same user would silently share the port: try it without first.
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

  /// The port that a listener got.
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
    return unauthenticated.held();
  }

  public List<EventLoop> loops() {
    return loops;
  }

  /// No new connections from now on.
  public void stopListening() {
    loops.forEach(EventLoop::stopListening);
  }

  /// Closes everything. Waits at most five seconds for each loop.
  @Override
  public void close() {
    loops.forEach(EventLoop::stop);
    try {
      for (var loop : loops) {
        loop.join(5_000);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    tlsTasks.shutdownNow();
  }
}
