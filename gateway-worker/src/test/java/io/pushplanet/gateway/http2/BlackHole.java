package io.pushplanet.gateway.http2;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/// A way to a server that can die silently: bytes go in and do not come out, and neither side is
/// told. New connections pass. Thread-safe.
public final class BlackHole implements AutoCloseable {
  private final ServerSocket listener;
  private final int serverPort;
  private final Queue<Way> ways = new ConcurrentLinkedQueue<>();

  private static final class Way {
    final Socket client;
    final Socket server;
    volatile boolean dead;
    volatile boolean leftByClient;

    Way(Socket client, Socket server) {
      this.client = client;
      this.server = server;
    }
  }

  public BlackHole(int serverPort) throws IOException {
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    this.serverPort = serverPort;
    Thread.ofVirtual().start(this::listen);
  }

  public int port() {
    return listener.getLocalPort();
  }

  /// Kills every connection that is open now.
  public void swallow() {
    ways.forEach(way -> way.dead = true);
  }

  public int connections() {
    return ways.size();
  }

  /// How many of the dead connections the client has closed.
  public long leftByClient() {
    return ways.stream().filter(way -> way.dead && way.leftByClient).count();
  }

  private void listen() {
    try {
      while (true) {
        Socket client = listener.accept();
        Way way = new Way(client, new Socket(InetAddress.getLoopbackAddress(), serverPort));
        ways.add(way);
        Thread.ofVirtual().start(() -> toServer(way));
        Thread.ofVirtual().start(() -> copy(way, way.server, way.client));
      }
    } catch (IOException closed) {
      ways.forEach(way -> {
        close(way.client);
        close(way.server);
      });
    }
  }

  private static void toServer(Way way) {
    copy(way, way.client, way.server);
    way.leftByClient = true;
  }

  private static void copy(Way way, Socket from, Socket to) {
    byte[] some = new byte[8_192];
    try {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      int count = in.read(some);
      while (count >= 0) {
        if (!way.dead) {
          out.write(some, 0, count);
        }
        count = in.read(some);
      }
    } catch (IOException broken) {
      // An error here is as good as an end.
    }
    if (!way.dead) {
      close(to);
    }
  }

  private static void close(AutoCloseable some) {
    try {
      some.close();
    } catch (Exception alreadyClosed) {
      // Nothing is left to do.
    }
  }

  @Override
  public void close() {
    close(listener);
  }
}
