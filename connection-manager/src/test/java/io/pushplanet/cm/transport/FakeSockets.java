package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.socket.Sockets;
import io.pushplanet.cm.transport.socket.Wire;
import io.pushplanet.cm.transport.tls.HandshakeQueue;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/// Connections of a real event loop that share one fake socket: for more sessions than a process
/// has descriptors. Bytes sent to them are discarded, unless a test wants [to see them][#onSent].
public final class FakeSockets implements AutoCloseable {
  private final EventLoop loop;
  private final Listener listener;
  private final Fake wire = new Fake();

  public FakeSockets(
      AcceptGate gate,
      MeterRegistry meters,
      LongSupplier nanoTime,
      Function<Connection, ConnectionHandler> handlers)
      throws IOException {
    listener =
        new Listener(
            "fake",
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            null,
            false,
            1 << 16,
            false,
            handlers);
    loop =
        new EventLoop(
            0,
            new EventLoop.Shared(
                new TransportSettings(
                    1,
                    Sockets.AUTO,
                    1 << 20,
                    1 << 20,
                    Duration.ofSeconds(30),
                    Duration.ZERO,
                    1,
                    1,
                    1),
                new TransportMetrics(meters),
                new UnauthenticatedBudgets(1 << 20, List.of(listener)),
                new ByteBudget(1 << 20, null),
                gate,
                new HandshakeQueue(1, 1),
                new Pressure(meters),
                new Heap(),
                new Descriptors(Long.MAX_VALUE),
                nanoTime));
    loop.start();
  }

  /// The loop of these connections.
  public EventLoop loop() {
    return loop;
  }

  /// Runs the step in a turn that begins now, not in one that may have begun before, and waits for
  /// its end.
  public <T> T inTurn(Callable<T> step) {
    var task = new FutureTask<>(step);
    loop.execute(() -> loop.execute(task));
    try {
      return task.get(60, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException failed) {
      throw new AssertionError(failed);
    }
  }

  public void inTurn(Runnable step) {
    inTurn(Executors.callable(step));
  }

  /// Makes a new connection. On the loop.
  public Connection accept() {
    var connection = new Connection(loop, wire, InetAddress.getLoopbackAddress(), listener);
    loop.add(connection);
    connection.opened();
    return connection;
  }

  /// Delivers bytes from the peer. On the loop.
  public void receive(Connection connection, byte[] bytes) {
    wire.input = ByteBuffer.wrap(bytes);
    try {
      connection.readable();
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /// Hands over all bytes that are sent from now on. On the loop.
  public void onSent(Consumer<byte[]> sees) {
    wire.sees = sees;
  }

  /// Stops as the process does, and waits for the end.
  public void stop() throws InterruptedException {
    loop.stop();
    loop.join(60_000);
  }

  /// How many connections have not closed. From any thread.
  public int open() {
    return loop.connections();
  }

  /// Called once a second. On the loop.
  public void sweep(Connection connection) {
    connection.sweep(loop.nowNanos());
  }

  @Override
  public void close() {
    loop.stop();
  }

  /// The one socket of all connections. Confined to the loop.
  private static final class Fake implements Wire {
    private ByteBuffer input = ByteBuffer.allocate(0);
    private @Nullable Consumer<byte[]> sees;

    @Override
    public int read(ByteBuffer to) {
      int bytes = input.remaining();
      to.put(input);
      return bytes;
    }

    @Override
    public int write(ByteBuffer from) {
      int bytes = from.remaining();
      if (sees != null) {
        var sent = new byte[bytes];
        from.duplicate().get(sent);
        sees.accept(sent);
      }
      from.position(from.limit());
      return bytes;
    }

    @Override
    public void join(Object owner) {}

    @Override
    public void reading(boolean wanted) {}

    @Override
    public void writing(boolean wanted) {}

    @Override
    public boolean hasPeerLeft() {
      return false;
    }

    @Override
    public void shutdownOutput() {}

    @Override
    public void close() {}

    @Override
    public void reset() {}
  }
}
