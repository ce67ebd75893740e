package io.pushplanet.gateway.http2;

import com.sun.management.ThreadMXBean;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.SslContext;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.gateway.fcm.FcmRequests;
import io.pushplanet.gateway.http2.ScriptedServer.Peer;
import io.pushplanet.gateway.http2.ScriptedServer.Script;
import io.pushplanet.simulators.tls.Authority;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.HdrHistogram.ConcurrentHistogram;

/// A program for `./pushplanet bench apns` and `bench fcm`: a sender of 1 KB notifications over
/// HTTP/2 and TLS, ours or another, alone in its process, and what each notification cost it; or
/// the server for it. The last line it prints holds the figures. Programs at full speed that are
/// given the same file for their turns measure one after the other, load by load, so that what the
/// machine does to one of them it does to all.
///
/// ```text
/// server STATE ROUND_TRIP_MILLIS
/// speed CLIENT STATE PORT SECONDS TURNS
/// distance CLIENT STATE FAR_PORT SMALL_PORT SECONDS
/// faults CLIENT STATE
/// ```
final class SenderProgram {
  static final int PAYLOAD_BYTES = 1_024;

  private static final int[] CONNECTIONS = {1, 2, 4};
  private static final int[] IN_FLIGHT = {100, 500, 900};

  /// HttpComponents walks over every open stream at each write: it is at its best with few of them
  /// on more connections.
  private static final int FEW_STREAMS = 25;

  private static final String FAILED = "failed";
  private static final long LONGEST_MICROS = 60_000_000;
  private static final Duration WARM_UP = Duration.ofSeconds(15);

  /// A load's figures are the medians of so many turns.
  private static final int TURNS = 3;

  private final Map<String, Long> figures = new LinkedHashMap<>();
  private final String client;
  private final Authority authority;

  private SenderProgram(String client, Authority authority) {
    this.client = client;
    this.authority = authority;
  }

  public static void main(String[] args) throws Exception {
    if (args[0].equals("server")) {
      serve(
          Authority.in(Path.of(args[1]), Clock.systemUTC()),
          Duration.ofMillis(Integer.parseInt(args[2])));
      return;
    }
    SenderProgram program =
        new SenderProgram(args[1], Authority.in(Path.of(args[2]), Clock.systemUTC()));
    switch (args[0]) {
      case "speed" ->
          program.speed(
              Integer.parseInt(args[3]), Integer.parseInt(args[4]), new Turns(Path.of(args[5])));
      case "distance" ->
          program.distance(
              Integer.parseInt(args[3]), Integer.parseInt(args[4]), Integer.parseInt(args[5]));
      case "faults" -> program.faults();
      default -> throw new IllegalArgumentException("there is no " + args[0]);
    }
    System.out.println(
        program.figures.entrySet().stream()
            .map(figure -> figure.getKey() + "=" + figure.getValue())
            .collect(Collectors.joining(" ")));
    System.exit(0);
  }

  // The server.

  private static void serve(Authority authority, Duration roundTrip) throws Exception {
    SslContext tls = HeldAnswers.tls(authority);
    ScriptedServer near = new ScriptedServer(new Generous(), tls, 0, false);
    ScriptedServer small = new ScriptedServer(new Narrow(), tls, 0, false);
    DelayedWay toNear = new DelayedWay(near.port(), roundTrip);
    DelayedWay toSmall = new DelayedWay(small.port(), roundTrip);
    // The reader may see only the beginning of a line, so the last word says that it is complete.
    System.out.printf(
        "port=%d far=%d small=%d ready=1%n", near.port(), toNear.port(), toSmall.port());
    new CountDownLatch(1).await();
  }

  /// Windows that never hold a client up.
  private static final class Generous implements Script {
    @Override
    public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
      peer.answer(stream);
      if (peer.requests.get() % 100_000 == 0) {
        peer.widen(0, 100_000 * PAYLOAD_BYTES);
      }
    }
  }

  /// The windows of RFC 9113's beginning, widened by what has been read.
  private static final class Narrow implements Script {
    @Override
    public void connected(Peer peer) {
      peer.settings(new Http2Settings().maxConcurrentStreams(1_000));
    }

    @Override
    public void request(Peer peer, int stream, Http2Headers headers, byte[] body) {
      peer.answer(stream);
      peer.widen(0, PAYLOAD_BYTES);
    }
  }

  // Speed.

  private void speed(int port, int seconds, Turns turns) throws IOException, InterruptedException {
    turns.take(() -> measured("warm", port, 2, 500, WARM_UP, WARM_UP));
    for (int connections : CONNECTIONS) {
      for (int inFlight : IN_FLIGHT) {
        speed("c" + connections + "_f" + inFlight, port, connections, inFlight, seconds, turns);
      }
    }
    if (client.equals(HttpCoreSender.NAME)) {
      for (int inFlight : IN_FLIGHT) {
        speed("few_f" + inFlight, port, inFlight / FEW_STREAMS, inFlight, seconds, turns);
      }
    }
  }

  private void speed(String name, int port, int connections, int inFlight, int seconds, Turns turns)
      throws IOException, InterruptedException {
    Duration settle = Duration.ofSeconds(1);
    Duration each = Duration.ofSeconds(seconds).dividedBy(TURNS);
    Map<String, List<Long>> found = new LinkedHashMap<>();
    for (int turn = 0; turn < TURNS; turn++) {
      turns
          .take(() -> measured(name, port, connections, inFlight, settle, each))
          .forEach(
              (figure, value) -> found.computeIfAbsent(figure, _ -> new ArrayList<>()).add(value));
    }
    found.forEach((figure, values) -> {
      values.sort(null);
      // Each failure counts.
      figures.put(
          name + "_" + figure,
          figure.equals(FAILED)
              ? values.stream().mapToLong(Long::longValue).sum()
              : values.get(TURNS / 2));
    });
  }

  private void distance(int farPort, int smallPort, int seconds)
      throws IOException, InterruptedException {
    Duration settle = Duration.ofSeconds(3);
    Duration each = Duration.ofSeconds(seconds);
    measure("far_c1_f100", farPort, 1, 100, settle, each);
    measure("far_c1_f900", farPort, 1, 900, settle, each);
    measure("far_c4_f3600", farPort, 4, 3_600, settle, each);
    measure("narrow_c1_f900", smallPort, 1, 900, settle, each);
    measure("narrow_c8_f900", smallPort, 8, 900, settle, each);
    if (client.equals(OurSender.NAME)) {
      measure("unpooled_f100", farPort, 0, 100, settle, each);
    }
  }

  private NotificationSender sender(int port, int connections, int inFlight) {
    return switch (client) {
      case OurSender.NAME -> new OurSender(authority, port, connections, inFlight);
      case FcmRequests.NAME ->
          new OurSender(Channel.FCM, FcmRequests::request, authority, port, connections, inFlight);
      case FcmRequests.TO_ALL ->
          new OurSender(Channel.FCM, FcmRequests.toAll(), authority, port, connections, inFlight);
      case PushySender.NAME -> new PushySender(authority, port, connections);
      case HttpCoreSender.NAME -> new HttpCoreSender(authority, port, connections);
      default -> throw new IllegalArgumentException("there is no client " + client);
    };
  }

  private void measure(
      String name, int port, int connections, int inFlight, Duration settle, Duration each)
      throws IOException, InterruptedException {
    measured(name, port, connections, inFlight, settle, each)
        .forEach((figure, value) -> figures.put(name + "_" + figure, value));
  }

  private Map<String, Long> measured(
      String name, int port, int connections, int inFlight, Duration settle, Duration each)
      throws IOException, InterruptedException {
    Map<String, Long> found = new LinkedHashMap<>();
    AtomicLong sent = new AtomicLong();
    AtomicLong ended = new AtomicLong();
    AtomicLong failed = new AtomicLong();
    ConcurrentHistogram[] latencies = {new ConcurrentHistogram(LONGEST_MICROS, 3)};
    boolean[] over = {false};
    try (NotificationSender sender = sender(port, connections, inFlight)) {
      sender.keepSending(
          inFlight,
          () -> over[0] ? -1 : sent.getAndIncrement(),
          (n, beganNanos, well) -> {
            latencies[0].recordValue(
                Math.min(LONGEST_MICROS, (System.nanoTime() - beganNanos) / 1_000));
            ended.incrementAndGet();
            if (!well) {
              failed.incrementAndGet();
            }
          });
      TimeUnit.NANOSECONDS.sleep(settle.toNanos());
      latencies[0] = new ConcurrentHistogram(LONGEST_MICROS, 3);
      long endedBefore = ended.get();
      Map<String, Long> processorBefore = processorNanos();
      long allocatedBefore = allocatedBytes();
      long began = System.nanoTime();
      TimeUnit.NANOSECONDS.sleep(each.toNanos());
      long nanos = System.nanoTime() - began;
      long notifications = Math.max(1, ended.get() - endedBefore);
      found.put("rate", notifications * 1_000_000_000 / nanos);
      found.put("cpu_nanos", since(processorBefore) / notifications);
      found.put("bytes", (allocatedBytes() - allocatedBefore) / notifications);
      found.put("p99_micros", latencies[0].getValueAtPercentile(99));
      found.put(FAILED, failed.get());
      over[0] = true;
    }
    System.out.println(name + " " + found);
    return found;
  }

  // Faults.

  private void faults() throws Exception {
    for (Fault fault : Fault.values()) {
      Map<String, Long> found = new FaultRun(fault, HeldAnswers.tls(authority)).run(this::sender);
      found.forEach((name, value) -> figures.put(fault.word() + "_" + name, value));
      System.out.println(fault + " " + found);
    }
  }

  // What it costs.

  private static long allocatedBytes() {
    return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
  }

  /// A thread that has ended does not count, because its earlier use would be subtracted.
  private static long since(Map<String, Long> then) throws IOException {
    return processorNanos().entrySet().stream()
        .mapToLong(thread -> thread.getValue() - then.getOrDefault(thread.getKey(), 0L))
        .sum();
  }

  /// Of all threads but the compiler's, whose work is done once.
  private static Map<String, Long> processorNanos() throws IOException {
    Map<String, Long> nanos = new LinkedHashMap<>();
    try (Stream<Path> tasks = Files.list(Path.of("/proc/self/task"))) {
      for (Path task : tasks.toList()) {
        try {
          if (!Files.readString(task.resolve("comm")).contains("CompilerThre")) {
            nanos.put(
                task.getFileName().toString(),
                Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ")[0]));
          }
        } catch (IOException e) {
          // It may have ended since it was listed.
          if (Files.exists(task)) {
            throw e;
          }
        }
      }
    }
    return nanos;
  }
}
