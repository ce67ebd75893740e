package io.pushplanet.load.hostile;

import io.pushplanet.load.fleet.Device;
import io.pushplanet.load.mqtt.ClientPackets;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// Connections that send mutated packets one after the other, from several threads. The node closes
/// each at the first packet that it refuses, or at its end. For one run.
final class Attack {
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(20);
  private static final int MEGABYTE = 1 << 20;
  private static final int SOURCES = 250;

  /// A fixed header that declares 268,435,455 bytes, the maximum of MQTT.
  private static final byte[] LONGEST_PACKET = {ClientPackets.CONNECT, -1, -1, -1, 0x7F};

  /// One context for all, so that TLS sessions are resumed as a client's are.
  private static final SSLContext TLS = trustingAnybody();

  private final Door door;
  private final InetSocketAddress node;
  private final List<Device> devices;
  private final String gatewayPassword;
  private final int pipeline;
  private final AtomicInteger opened = new AtomicInteger();
  private final LongAdder packets = new LongAdder();
  private final LongAdder connections = new LongAdder();
  private final LongAdder unanswered = new LongAdder();

  /// @param pipeline packets that a connection sends before it reads an answer
  Attack(
      Door door,
      InetSocketAddress node,
      List<Device> devices,
      String gatewayPassword,
      int pipeline) {
    this.door = door;
    this.node = node;
    this.devices = List.copyOf(devices);
    this.gatewayPassword = gatewayPassword;
    this.pipeline = pipeline;
  }

  /// Returns when the attack has ended.
  ///
  /// @param seed the same seed and number of threads give the same bytes
  AttackCounts run(AttackPlan plan, long seed) {
    AtomicLong slot = new AtomicLong();
    long start = System.nanoTime();
    try (var executor =
        Executors.newFixedThreadPool(plan.threads(), Thread.ofPlatform().daemon().factory())) {
      for (int thread = 0; thread < plan.threads(); thread++) {
        var stream =
            new MutatedPackets(door, devices, gatewayPassword, new SplittableRandom(seed + thread));
        executor.execute(() -> {
          byte[] buffer = new byte[16 * 1024];
          while (packets.sum() < plan.packets()
              && System.nanoTime() - start < plan.atMost().toNanos()) {
            if (plan.perSecond() > 0) {
              long due = start + (long) (slot.getAndIncrement() * 1e9 / plan.perSecond());
              LockSupport.parkNanos(due - System.nanoTime());
            }
            attack(stream.connection(pipeline), buffer);
          }
        });
      }
    }
    return new AttackCounts(packets.sum(), connections.sum(), unanswered.sum());
  }

  private void attack(byte[] bytes, byte[] buffer) {
    try (Socket socket = connect()) {
      connections.increment();
      packets.add(pipeline);
      OutputStream out = socket.getOutputStream();
      out.write(bytes);
      // The node has all packets and the end of the input: it answers and closes.
      socket.shutdownOutput();
      readToEnd(socket.getInputStream(), buffer);
    } catch (SocketTimeoutException silent) {
      unanswered.increment();
    } catch (IOException closed) {
      // Closed by the node while bytes were still on their way, or not accepted by it.
    }
  }

  /// Declares 268 MB and sends up to a megabyte.
  ///
  /// @return whether the node closed before it had read that
  boolean declare() {
    byte[] buffer = new byte[16 * 1024];
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      if (door.isWebSocket()) {
        out.write(WebSocketBytes.UPGRADE);
        out.write(WebSocketBytes.declaring268Megabytes());
      } else {
        out.write(LONGEST_PACKET);
      }
      for (int sent = 0; sent < MEGABYTE; sent += buffer.length) {
        out.write(buffer);
      }
      readToEnd(socket.getInputStream(), buffer);
      return true;
    } catch (SocketTimeoutException held) {
      return false;
    } catch (IOException closed) {
      return true;
    }
  }

  /// One of many addresses of this machine, with port 0: each attack leaves its port in TIME_WAIT
  /// for a minute, and one address has 28,000 ports.
  static InetSocketAddress source(int number) {
    return new InetSocketAddress("127.2.0." + (1 + Math.floorMod(number, SOURCES)), 0);
  }

  private Socket connect() throws IOException {
    Socket plain = new Socket();
    try {
      plain.setTcpNoDelay(true);
      plain.setSoTimeout((int) ANSWERED_WITHIN.toMillis());
      plain.bind(source(opened.getAndIncrement()));
      plain.connect(node, (int) ANSWERED_WITHIN.toMillis());
      return door.isTls()
          ? TLS.getSocketFactory().createSocket(plain, node.getHostString(), node.getPort(), true)
          : plain;
    } catch (IOException e) {
      plain.close();
      throw e;
    }
  }

  private static void readToEnd(InputStream in, byte[] buffer) throws IOException {
    int read = 0;
    while (read >= 0) {
      read = in.read(buffer);
    }
  }

  // The node is our child process, with our certificate.
  private static SSLContext trustingAnybody() {
    TrustManager anybody =
        new X509TrustManager() {
          @Override
          public void checkClientTrusted(X509Certificate[] chain, String kind) {}

          @Override
          public void checkServerTrusted(X509Certificate[] chain, String kind) {}

          @Override
          public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
          }
        };
    try {
      SSLContext context = SSLContext.getInstance("TLSv1.3");
      context.init(null, new TrustManager[] {anybody}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no TLS 1.3", e);
    }
  }
}
