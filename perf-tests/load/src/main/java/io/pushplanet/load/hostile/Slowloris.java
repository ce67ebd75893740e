package io.pushplanet.load.hostile;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// Sockets that send a byte now and then and never get to the end of their CONNECT, or of their TLS ClientHello. What the
/// node closes is opened again at once, so that as many stand as were asked for. One thread of its own.
public final class Slowloris implements AutoCloseable {
  private static final Duration ROUND = Duration.ofMillis(250);

  /// The start of a handshake record that announces a ClientHello of 512 bytes; no more than its first bytes ever come.
  private static final byte[] HELLO = {0x16, 3, 1, 2, 4, 1, 0, 2, 0, 3, 3, 1, 2, 3, 4, 5, 6, 7, 8};

  private final List<Held> sockets = new ArrayList<>();
  private final LongAdder opened = new LongAdder();
  private final Thread thread;
  private volatile boolean closed;

  private static final class Held {
    final InetSocketAddress node;
    final byte[] bytes;
    int sent;
    @Nullable SocketChannel channel;

    Held(InetSocketAddress node, byte[] bytes) {
      this.node = node;
      this.bytes = bytes;
    }
  }

  private Slowloris() {
    thread = Thread.ofPlatform().name("slowloris").daemon(true).unstarted(this::run);
  }

  /// Half of them at the plain listener, half at that with TLS.
  public static Slowloris start(int count, InetSocketAddress mqtt, InetSocketAddress tls) {
    Slowloris slow = new Slowloris();
    byte[] connect = Wire.connect(5, "slowloris", "bench", "x".repeat(100));
    for (int socket = 0; socket < count; socket++) {
      slow.sockets.add(socket % 2 == 0 ? new Held(mqtt, connect) : new Held(tls, HELLO));
    }
    slow.thread.start();
    return slow;
  }

  /// Connections made so far: what the node closed was made again.
  public long opened() {
    return opened.sum();
  }

  private void run() {
    ByteBuffer answer = ByteBuffer.allocate(64);
    while (!closed) {
      long round = System.nanoTime();
      for (Held held : sockets) {
        if (closed) {
          break;
        }
        turn(held, answer);
      }
      LockSupport.parkNanos(ROUND.toNanos() - (System.nanoTime() - round));
    }
    for (Held held : sockets) {
      close(held);
    }
  }

  private void turn(Held held, ByteBuffer answer) {
    try {
      SocketChannel channel = held.channel;
      if (channel == null) {
        channel = SocketChannel.open();
        held.channel = channel;
        held.sent = 0;
        channel.connect(held.node);
        channel.configureBlocking(false);
        opened.increment();
      }
      if (channel.read(answer.clear()) < 0) {
        close(held);
      } else if (held.sent < held.bytes.length - 1) {
        held.sent += channel.write(ByteBuffer.wrap(held.bytes, held.sent, 1));
      }
    } catch (IOException gone) {
      close(held);
    }
  }

  private static void close(Held held) {
    try {
      if (held.channel != null) {
        held.channel.close();
        held.channel = null;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a socket cannot be closed", e);
    }
  }

  @Override
  public void close() {
    closed = true;
    try {
      thread.join(Duration.ofSeconds(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
