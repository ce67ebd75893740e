package io.pushplanet.load.hostile;

import static java.util.Objects.requireNonNull;

import io.pushplanet.common.access.Secret;
import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.Connect;
import io.pushplanet.load.mqtt.MqttVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sockets that send a byte per second and never complete their CONNECT, upgrade to WebSocket or
/// TLS ClientHello. A socket that the node closes is replaced, so that their number stays. Their
/// starts are spread over the time after which the node closes them, so that it does not close all
/// of them together. They share one thread.
final class Slowloris implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Slowloris.class);
  private static final Duration TURN = Duration.ofMillis(20);
  private static final int TURNS_PER_BYTE = 50;
  private static final int TURNS_TO_BEGIN = 250;

  /// Below a listener's backlog, because a dropped SYN is repeated only after a second.
  private static final int OPENING_AT_ONCE = 200;

  /// The start of a handshake record that announces a ClientHello of 512 bytes; no more than its
  /// first bytes ever come.
  private static final byte[] HELLO = {0x16, 3, 1, 2, 4, 1, 0, 2, 0, 3, 3, 1, 2, 3, 4, 5, 6, 7, 8};

  private static final byte[] CONNECT =
      ClientPackets.connect(
          new Connect(
              MqttVersion.V5,
              "slowloris",
              "bench",
              new Secret("x".repeat(100)),
              Duration.ofSeconds(60),
              Duration.ZERO));

  private final Selector selector;
  private final List<Held> sockets = new ArrayList<>();
  private final LongAdder opened = new LongAdder();
  private final Thread thread;
  private volatile boolean closed;

  // Confined to the thread.
  private final Queue<Held> toOpen = new ArrayDeque<>();
  private final ByteBuffer answer = ByteBuffer.allocate(64);
  private int opening;
  private int begun;
  private int next;

  private static final class Held {
    final InetSocketAddress source;
    final InetSocketAddress node;
    final byte[] bytes;
    int sent;
    boolean connected;
    @Nullable SocketChannel channel;
    @Nullable SocketChannel finished;

    Held(InetSocketAddress source, InetSocketAddress node, byte[] bytes) {
      this.source = source;
      this.node = node;
      this.bytes = bytes;
    }
  }

  private Slowloris(Selector selector) {
    this.selector = selector;
    thread = Thread.ofPlatform().name("slowloris").daemon(true).unstarted(this::run);
  }

  /// As many sockets at each of these listeners, but for the rest of the division.
  static Slowloris start(int count, Map<Door, InetSocketAddress> listeners) {
    try {
      Slowloris slow = new Slowloris(Selector.open());
      List<Door> doors = List.copyOf(listeners.keySet());
      for (int socket = 0; socket < count; socket++) {
        Door door = doors.get(socket % doors.size());
        slow.sockets.add(
            new Held(Attack.source(socket), requireNonNull(listeners.get(door)), beginning(door)));
      }
      slow.thread.start();
      return slow;
    } catch (IOException e) {
      throw new UncheckedIOException("cannot open a selector", e);
    }
  }

  private static byte[] beginning(Door door) {
    if (door.isTls()) {
      return HELLO;
    }
    return door.isWebSocket() ? WebSocketBytes.UPGRADE : CONNECT;
  }

  /// Connections made so far, including replacements for closed ones.
  long opened() {
    return opened.sum();
  }

  private void run() {
    try (selector) {
      long turnNanos = System.nanoTime();
      while (!closed) {
        long wait = turnNanos - System.nanoTime();
        if (wait <= 0) {
          begin();
          trickle();
          // Missed turns are not made up for: their bytes would come all together.
          turnNanos = System.nanoTime() + TURN.toNanos();
          wait = TURN.toNanos();
        }
        selector.select(this::handle, Math.max(1, TimeUnit.NANOSECONDS.toMillis(wait)));
        while (opening < OPENING_AT_ONCE && !toOpen.isEmpty()) {
          open(toOpen.remove());
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.error("event=slowloris_died", e);
    } finally {
      sockets.forEach(Slowloris::close);
    }
  }

  private void begin() {
    int now = Math.min(sockets.size(), begun + Math.ceilDiv(sockets.size(), TURNS_TO_BEGIN));
    toOpen.addAll(sockets.subList(begun, now));
    begun = now;
  }

  private void open(Held held) {
    held.sent = 0;
    held.connected = false;
    opening++;
    try {
      SocketChannel channel = SocketChannel.open();
      held.channel = channel;
      channel.configureBlocking(false);
      channel.register(selector, SelectionKey.OP_CONNECT, held);
      channel.bind(held.source);
      channel.connect(held.node);
    } catch (IOException refused) {
      again(held);
    }
  }

  private void handle(SelectionKey key) {
    Held held = (Held) key.attachment();
    SocketChannel channel = (SocketChannel) key.channel();
    try {
      if (key.isConnectable() && channel.finishConnect()) {
        held.connected = true;
        letGo(held);
        opening--;
        opened.increment();
        key.interestOps(SelectionKey.OP_READ);
      } else if (key.isReadable() && channel.read(answer.clear()) < 0) {
        key.cancel();
        held.finished = channel;
        held.channel = null;
        toOpen.add(held);
      }
    } catch (IOException gone) {
      again(held);
    }
  }

  /// The next fiftieth of the sockets sends one byte each.
  private void trickle() {
    int some = Math.ceilDiv(sockets.size(), TURNS_PER_BYTE);
    for (int count = 0; count < some; count++) {
      Held held = sockets.get(next);
      next = (next + 1) % sockets.size();
      SocketChannel channel = held.channel;
      if (channel != null && held.connected && held.sent < held.bytes.length - 1) {
        try {
          held.sent += channel.write(ByteBuffer.wrap(held.bytes, held.sent, 1));
        } catch (IOException gone) {
          again(held);
        }
      }
    }
  }

  private void again(Held held) {
    if (!held.connected) {
      opening--;
    }
    close(held);
    toOpen.add(held);
  }

  private static void close(Held held) {
    try {
      letGo(held);
      if (held.channel != null) {
        held.channel.close();
        held.channel = null;
      }
    } catch (IOException e) {
      throw new UncheckedIOException("a socket cannot be closed", e);
    }
  }

  private static void letGo(Held held) throws IOException {
    if (held.finished != null) {
      held.finished.close();
      held.finished = null;
    }
  }

  @Override
  public void close() {
    closed = true;
    selector.wakeup();
    try {
      thread.join(Duration.ofSeconds(30));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
