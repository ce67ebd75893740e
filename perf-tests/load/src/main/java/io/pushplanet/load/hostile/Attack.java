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
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;

/// Connections that send mutated packets one after the other, from several threads. The node closes
/// each at the first packet that it refuses. For one run.
final class Attack {
  private static final Duration ANSWERED_WITHIN = Duration.ofSeconds(20);

  /// A node that sends nothing for this time waits for the rest of a packet. We must not end our
  /// stream earlier: a node that has a CONNECT asks the kernel whether its client has left before
  /// it reads on.
  private static final Duration QUIET = Duration.ofSeconds(1);

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
  private final LongAdder judged = new LongAdder();
  private final LongAdder connections = new LongAdder();
  private final LongAdder unanswered = new LongAdder();

  /// @param devices whose passwords are known; each thread has some of its own, so that none takes
  ///     over another's connection
  /// @param pipeline packets that a connection sends before it reads an answer, at most
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
      List<Future<?>> attackers = new ArrayList<>();
      for (int thread = 0; thread < plan.threads(); thread++) {
        List<Device> its =
            devices.subList(
                devices.size() * thread / plan.threads(),
                devices.size() * (thread + 1) / plan.threads());
        var stream =
            new MutatedPackets(
                door, its, gatewayPassword, pipeline, new SplittableRandom(seed + thread));
        attackers.add(executor.submit(() -> attack(plan, stream, slot, start)));
      }
      for (Future<?> attacker : attackers) {
        attacker.get();
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException("an attacker failed: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return new AttackCounts(packets.sum(), judged.sum(), connections.sum(), unanswered.sum());
  }

  private void attack(AttackPlan plan, MutatedPackets stream, AtomicLong slot, long startNanos) {
    byte[] buffer = new byte[16 * 1024];
    while (judged.sum() < plan.packets()
        && System.nanoTime() - startNanos < plan.atMost().toNanos()) {
      if (plan.perSecond() > 0) {
        long due = startNanos + (long) (slot.getAndIncrement() * 1e9 / plan.perSecond());
        LockSupport.parkNanos(due - System.nanoTime());
      }
      attack(stream.connection(), buffer);
    }
  }

  private void attack(Pipeline pipeline, byte[] buffer) {
    try (Socket socket = connect()) {
      connections.increment();
      socket.getOutputStream().write(pipeline.bytes());
      packets.add(pipeline.packets());
      Answers answers = new Answers(door.isWebSocket());
      boolean ended = readUntilQuiet(socket, buffer, answers);
      judged.add(pipeline.judged(answers, ended));
      if (!ended) {
        // The node has all packets and the end of the input: it answers and closes.
        socket.setSoTimeout((int) ANSWERED_WITHIN.toMillis());
        socket.shutdownOutput();
        readToEnd(socket.getInputStream(), buffer);
      }
    } catch (SocketTimeoutException silent) {
      unanswered.increment();
    } catch (IOException closed) {
      // Closed by the node while bytes were still on their way, or not accepted by it.
    }
  }

  /// @return whether the node ended the connection
  private static boolean readUntilQuiet(Socket socket, byte[] buffer, Answers answers)
      throws IOException {
    socket.setSoTimeout((int) QUIET.toMillis());
    InputStream in = socket.getInputStream();
    try {
      for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
        answers.add(buffer, read);
      }
      return true;
    } catch (SocketTimeoutException quiet) {
      return false;
    } catch (IOException reset) {
      // Closed by the node with bytes of ours unread.
      return true;
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
