package io.pushplanet.cm.transport;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.tls.HandshakeLine;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongSupplier;

/// Connections of a real event loop whose sockets are one fake: for numbers of sessions that no process has descriptors for.
/// What they are sent is swallowed.
public final class FakeSockets implements AutoCloseable {
  private final EventLoop loop;
  private final Listener listener;
  private final Wire wire = new Wire();

  public FakeSockets(
      AcceptGate gate,
      MeterRegistry meters,
      LongSupplier nanoTime,
      Function<Connection, ConnectionHandler> handlers)
      throws IOException {
    loop =
        new EventLoop(
            0,
            new EventLoop.Shared(
                new TransportSettings(1, 1 << 20, Duration.ofSeconds(30), 1, 1, 1),
                new TransportMetrics(meters),
                new ByteBudget(1 << 20),
                new ByteBudget(1 << 20),
                gate,
                new HandshakeLine(1, 1),
                new Pressure(meters),
                new Heap(),
                nanoTime));
    listener =
        new Listener(
            "fake",
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            null,
            false,
            1 << 16,
            false,
            handlers);
    loop.start();
  }

  /// The loop that everything of these connections happens on.
  public EventLoop loop() {
    return loop;
  }

  /// A new connection. On the loop.
  public Connection accept() {
    var connection = new Connection(loop, new Key(wire), listener);
    loop.add(connection);
    connection.opened();
    return connection;
  }

  /// The peer sends this. On the loop.
  public void receive(Connection connection, byte[] bytes) {
    wire.input = ByteBuffer.wrap(bytes);
    try {
      connection.readable();
    } catch (IOException impossible) {
      throw new AssertionError(impossible);
    }
  }

  /// Once a second. On the loop.
  public void sweep(Connection connection) {
    connection.sweep(loop.nowNanos());
  }

  @Override
  public void close() {
    loop.stop();
  }

  private static final class Key extends SelectionKey {
    private final Wire wire;

    Key(Wire wire) {
      this.wire = wire;
    }

    @Override
    public SocketChannel channel() {
      return wire;
    }

    @Override
    public Selector selector() {
      throw new UnsupportedOperationException("a fake has no selector");
    }

    @Override
    public boolean isValid() {
      return true;
    }

    @Override
    public void cancel() {}

    @Override
    public int interestOps() {
      return OP_READ;
    }

    @Override
    public SelectionKey interestOps(int ops) {
      return this;
    }

    @Override
    public int readyOps() {
      return OP_READ;
    }
  }

  /// All sockets in one. Confined to the loop.
  private static final class Wire extends SocketChannel {
    private ByteBuffer input = ByteBuffer.allocate(0);

    Wire() {
      super(java.nio.channels.spi.SelectorProvider.provider());
    }

    @Override
    public int read(ByteBuffer to) {
      int bytes = input.remaining();
      to.put(input);
      return bytes;
    }

    @Override
    public int write(ByteBuffer from) {
      int bytes = from.remaining();
      from.position(from.limit());
      return bytes;
    }

    @Override
    public long read(ByteBuffer[] to, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
      throw new UnsupportedOperationException();
    }

    @Override
    public SocketChannel bind(SocketAddress local) {
      return this;
    }

    @Override
    public <T> SocketChannel setOption(SocketOption<T> name, T value) {
      return this;
    }

    @Override
    public <T> T getOption(SocketOption<T> name) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Set<SocketOption<?>> supportedOptions() {
      return Set.of();
    }

    @Override
    public SocketChannel shutdownInput() {
      return this;
    }

    @Override
    public SocketChannel shutdownOutput() {
      return this;
    }

    @Override
    public Socket socket() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isConnected() {
      return true;
    }

    @Override
    public boolean isConnectionPending() {
      return false;
    }

    @Override
    public boolean connect(SocketAddress remote) {
      return true;
    }

    @Override
    public boolean finishConnect() {
      return true;
    }

    @Override
    public SocketAddress getRemoteAddress() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    }

    @Override
    public SocketAddress getLocalAddress() {
      return new InetSocketAddress(InetAddress.getLoopbackAddress(), 2);
    }

    @Override
    protected void implCloseSelectableChannel() {}

    @Override
    protected void implConfigureBlocking(boolean block) {}
  }
}
