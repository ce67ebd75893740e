package io.pushplanet.load.measure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;

/// The processor time of this machine, at present, for a connect's socket operations: one selector
/// accepts, reads the size of a CONNECT, answers with the size of a CONNACK, reads that of a
/// SUBSCRIBE and answers with that of a SUBACK. It parses nothing and calls no other server: the
/// lower bound of every server's connect.
public final class BareConnects implements AutoCloseable {
  private static final int SOCKETS = 1_000;
  private static final int WARM_ROUNDS = 10;
  private static final int ROUNDS = 10;
  private static final int CONNECT = 130;
  private static final int CONNACK = 4;
  private static final int SUBSCRIBE = 20;
  private static final int SUBACK = 5;

  private final ServerSocketChannel listener = ServerSocketChannel.open();
  private final Selector selector = Selector.open();
  private final ByteBuffer in = ByteBuffer.allocateDirect(CONNECT);
  private final ByteBuffer out = ByteBuffer.allocateDirect(SUBACK);
  private final Thread thread = Thread.ofPlatform().daemon().unstarted(this::serve);
  private volatile boolean closed;

  private BareConnects() throws IOException {
    listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), SOCKETS);
    listener.configureBlocking(false);
    listener.register(selector, SelectionKey.OP_ACCEPT);
  }

  /// Microseconds of processor time for each.
  public static double micros() {
    try (var server = new BareConnects()) {
      server.thread.start();
      long nanos = 0;
      for (int round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
        long used = server.connectMany();
        nanos += round < WARM_ROUNDS ? 0 : used;
      }
      return nanos / 1e3 / ROUNDS / SOCKETS;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot connect to a socket of this machine", e);
    }
  }

  private long connectMany() throws IOException {
    List<SocketChannel> clients = new ArrayList<>();
    try {
      long before = used();
      for (int socket = 0; socket < SOCKETS; socket++) {
        SocketChannel client = SocketChannel.open(listener.getLocalAddress());
        clients.add(client);
        // Closes with a reset, so that no port stays in TIME_WAIT.
        client.setOption(StandardSocketOptions.SO_LINGER, 0);
        write(client, CONNECT);
      }
      for (SocketChannel client : clients) {
        read(client, CONNACK);
        write(client, SUBSCRIBE);
      }
      for (SocketChannel client : clients) {
        read(client, SUBACK);
      }
      return used() - before;
    } finally {
      for (SocketChannel client : clients) {
        client.close();
      }
    }
  }

  private long used() {
    return ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.threadId());
  }

  private static void write(SocketChannel channel, int bytes) throws IOException {
    var buffer = ByteBuffer.allocate(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  private static void read(SocketChannel channel, int bytes) throws IOException {
    var buffer = ByteBuffer.allocate(bytes);
    while (buffer.hasRemaining()) {
      if (channel.read(buffer) < 0) {
        throw new IOException("a socket of this program was closed");
      }
    }
  }

  private void serve() {
    try {
      while (!closed) {
        selector.select(this::ready);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void ready(SelectionKey key) {
    try {
      if (key.isAcceptable()) {
        accept();
      } else {
        answer(key);
      }
    } catch (IOException reset) {
      close(key);
    }
  }

  private void accept() throws IOException {
    SocketChannel accepted;
    while ((accepted = listener.accept()) != null) {
      accepted.configureBlocking(false);
      accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
      accepted.register(selector, SelectionKey.OP_READ);
    }
  }

  private void answer(SelectionKey key) throws IOException {
    var channel = (SocketChannel) key.channel();
    int read = channel.read(in.clear());
    if (read < 0) {
      close(key);
    } else {
      channel.write(out.clear().limit(read == CONNECT ? CONNACK : SUBACK));
    }
  }

  private static void close(SelectionKey key) {
    try {
      key.channel().close();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot close a socket", e);
    }
  }

  @Override
  public void close() throws IOException {
    closed = true;
    selector.wakeup();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    for (SelectionKey key : selector.keys()) {
      key.channel().close();
    }
    selector.close();
  }
}
