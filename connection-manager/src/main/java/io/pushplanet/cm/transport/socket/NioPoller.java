package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.Channel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The JDK's selector.
final class NioPoller implements Poller {
  private static final Logger LOG = LoggerFactory.getLogger(NioPoller.class);

  private static final long NANOS_PER_MILLI = 1_000_000;

  private final Selector selector = Selector.open();

  NioPoller() throws IOException {}

  @Override
  public void poll(long timeoutNanos, Ready ready) throws IOException {
    if (timeoutNanos <= 0) {
      selector.selectNow(key -> tell(key, ready));
    } else {
      selector.select(key -> tell(key, ready), Math.ceilDiv(timeoutNanos, NANOS_PER_MILLI));
    }
  }

  private static void tell(SelectionKey key, Ready ready) {
    if (key.isValid()) {
      int ops = key.readyOps();
      ready.ready(
          key.attachment(),
          (ops & (SelectionKey.OP_READ | SelectionKey.OP_ACCEPT)) != 0,
          (ops & SelectionKey.OP_WRITE) != 0);
    }
  }

  @Override
  public void wakeup() {
    selector.wakeup();
  }

  @Override
  public ListeningSocket listen(InetSocketAddress address, int backlog, Duration unacknowledged)
      throws IOException {
    var channel = ServerSocketChannel.open();
    try {
      channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
      channel.setOption(StandardSocketOptions.SO_REUSEPORT, true);
      // Accepted sockets inherit these options on Linux; elsewhere the system decides when to
      // probe.
      set(channel, ExtendedSocketOptions.TCP_KEEPIDLE, (int) KEEP_ALIVE_AFTER.toSeconds());
      set(channel, ExtendedSocketOptions.TCP_KEEPINTERVAL, (int) KEEP_ALIVE_EVERY.toSeconds());
      set(channel, ExtendedSocketOptions.TCP_KEEPCOUNT, KEEP_ALIVE_PROBES);
      channel.bind(address, backlog);
      channel.configureBlocking(false);
      return new NioListeningSocket(channel);
    } catch (IOException failed) {
      closeQuietly(channel);
      throw failed;
    }
  }

  private static void set(ServerSocketChannel channel, SocketOption<Integer> option, int value)
      throws IOException {
    if (channel.supportedOptions().contains(option)) {
      channel.setOption(option, value);
    }
  }

  @Override
  public void close() throws IOException {
    selector.close();
  }

  private static void closeQuietly(Channel channel) {
    try {
      channel.close();
    } catch (IOException ignored) {
      LOG.debug("event=socket_close_failed");
    }
  }

  private static void want(@Nullable SelectionKey key, int operation, boolean wanted) {
    if (key != null && key.isValid() && ((key.interestOps() & operation) != 0) != wanted) {
      key.interestOps(key.interestOps() ^ operation);
    }
  }

  private final class NioListeningSocket implements ListeningSocket {
    private final ServerSocketChannel channel;
    private @Nullable SelectionKey key;

    NioListeningSocket(ServerSocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public int port() {
      return channel.socket().getLocalPort();
    }

    @Override
    public void open(Object owner) throws IOException {
      key = channel.register(selector, SelectionKey.OP_ACCEPT, owner);
    }

    @Override
    public void listening(boolean wanted) {
      want(key, SelectionKey.OP_ACCEPT, wanted);
    }

    @Override
    public @Nullable Arrival accept() throws IOException {
      SocketChannel accepted;
      while ((accepted = accepted()) != null) {
        try {
          accepted.configureBlocking(false);
          accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
          accepted.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
          var source = (InetSocketAddress) accepted.getRemoteAddress();
          return new Arrival(new NioWire(accepted), source.getAddress());
        } catch (IOException gone) {
          closeQuietly(accepted);
        }
      }
      return null;
    }

    private @Nullable SocketChannel accepted() throws IOException {
      try {
        return channel.accept();
      } catch (IOException refusal) {
        // java.nio reports only the text of strerror(3).
        throw String.valueOf(refusal.getMessage()).startsWith("Too many open files")
            ? new NoDescriptor(refusal)
            : refusal;
      }
    }

    @Override
    public void close() {
      closeQuietly(channel);
    }
  }

  private final class NioWire implements Wire {
    private final SocketChannel channel;
    private @Nullable SelectionKey key;

    NioWire(SocketChannel channel) {
      this.channel = channel;
    }

    @Override
    public void join(Object owner) throws IOException {
      key = channel.register(selector, SelectionKey.OP_READ, owner);
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
      return channel.read(to);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      return channel.write(from);
    }

    @Override
    public void reading(boolean wanted) {
      want(key, SelectionKey.OP_READ, wanted);
    }

    @Override
    public void writing(boolean wanted) {
      want(key, SelectionKey.OP_WRITE, wanted);
    }

    @Override
    public boolean hasPeerLeft() {
      return false;
    }

    @Override
    public void shutdownOutput() throws IOException {
      channel.shutdownOutput();
    }

    @Override
    public void close() {
      closeQuietly(channel);
    }

    @Override
    public void reset() {
      try {
        channel.setOption(StandardSocketOptions.SO_LINGER, 0);
      } catch (IOException gone) {
        LOG.debug("event=socket_gone_before_reset");
      }
      close();
    }
  }
}
