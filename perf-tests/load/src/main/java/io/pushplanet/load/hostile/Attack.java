package io.pushplanet.load.hostile;

import io.pushplanet.load.fleet.Device;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
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
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// Connections that send mutated packets one after the other, from several threads, each closed by the node at the first
/// packet that it refuses, or by its end. Thread-safe.
public final class Attack {
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(20);
  private static final int MEGABYTE = 1 << 20;
  private static final int SOURCES = 250;

  private final Door door;
  private final InetSocketAddress node;
  private final List<Device> devices;
  private final String gatewayPassword;
  private final int pipeline;
  private final SSLContext tls;
  private final AtomicInteger opened = new AtomicInteger();
  private final LongAdder packets = new LongAdder();
  private final LongAdder connections = new LongAdder();
  private final LongAdder cutShort = new LongAdder();
  private final LongAdder answerBytes = new LongAdder();
  private final LongAdder unanswered = new LongAdder();
  private final LongAdder notTaken = new LongAdder();

  /// @param pipeline packets that a connection sends before it hears anything
  public Attack(
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
    this.tls = trustingAnybody();
  }

  public Door door() {
    return door;
  }

  /// Goes on until so many packets were sent, or `on` says no.
  ///
  /// @param perSecond connections; 0 as fast as it goes
  public void run(long wanted, int threads, double perSecond, long seed, BooleanSupplier on) {
    long before = packets.sum();
    AtomicLong slot = new AtomicLong();
    long start = System.nanoTime();
    try (var executor = Executors.newFixedThreadPool(threads)) {
      for (int thread = 0; thread < threads; thread++) {
        var stream =
            new MutatedPackets(door, devices, gatewayPassword, new SplittableRandom(seed + thread));
        executor.execute(() -> {
          byte[] buffer = new byte[16 * 1024];
          while (packets.sum() - before < wanted && on.getAsBoolean()) {
            if (perSecond > 0) {
              long due = start + (long) (slot.getAndIncrement() * 1e9 / perSecond);
              LockSupport.parkNanos(due - System.nanoTime());
            }
            attack(stream.connection(pipeline), buffer);
            packets.add(pipeline);
          }
        });
      }
    }
  }

  private void attack(byte[] bytes, byte[] buffer) {
    try (Socket socket = connect()) {
      connections.increment();
      OutputStream out = socket.getOutputStream();
      out.write(bytes);
      // The node has everything and knows that no more comes: it answers and closes.
      socket.shutdownOutput();
      readToEnd(socket.getInputStream(), buffer);
    } catch (java.net.SocketTimeoutException silent) {
      unanswered.increment();
    } catch (java.net.ConnectException busy) {
      notTaken.increment();
    } catch (IOException closed) {
      cutShort.increment();
    }
  }

  /// Declares 268 MB and goes on sending, up to a megabyte.
  ///
  /// @return whether the node closed before it had taken that
  public boolean declare() {
    byte[] buffer = new byte[16 * 1024];
    try (Socket socket = connect()) {
      OutputStream out = socket.getOutputStream();
      if (door.isWebSocket()) {
        out.write(Wire.UPGRADE);
        out.write(Wire.frameDeclaring268Megabytes());
      } else {
        out.write(Wire.declaring268Megabytes());
      }
      for (int sent = 0; sent < MEGABYTE; sent += buffer.length) {
        out.write(buffer);
      }
      readToEnd(socket.getInputStream(), buffer);
      return true;
    } catch (java.net.SocketTimeoutException held) {
      return false;
    } catch (IOException closed) {
      return true;
    }
  }

  /// One of many addresses of this machine, with port 0: each attack leaves its port in TIME_WAIT for a minute, and one
  /// address has 28,000.
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
          ? tls.getSocketFactory().createSocket(plain, node.getHostString(), node.getPort(), true)
          : plain;
    } catch (IOException e) {
      plain.close();
      throw e;
    }
  }

  private void readToEnd(InputStream in, byte[] buffer) throws IOException {
    for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
      answerBytes.add(read);
    }
  }

  public long packets() {
    return packets.sum();
  }

  public long connections() {
    return connections.sum();
  }

  /// Connections that the node reset while something was still under way to it.
  public long cutShort() {
    return cutShort.sum();
  }

  /// What the node answered.
  public long answerBytes() {
    return answerBytes.sum();
  }

  /// Connections that were neither answered to their end nor closed within 20 s: must not be.
  public long unanswered() {
    return unanswered.sum();
  }

  /// Connects that the machine refused.
  public long notTaken() {
    return notTaken.sum();
  }

  // The node is a child process of ours, with a certificate that it got from us.
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
