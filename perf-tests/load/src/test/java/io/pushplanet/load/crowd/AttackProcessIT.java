package io.pushplanet.load.crowd;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.load.hostile.AttackCounts;
import io.pushplanet.load.hostile.AttackPlan;
import io.pushplanet.load.hostile.Door;
import io.pushplanet.load.node.JvmFlags;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@Execution(ExecutionMode.CONCURRENT)
class AttackProcessIT {
  private static final Duration LONGEST = Duration.ofMinutes(2);
  private static final AttackPlan WITHOUT_END =
      new AttackPlan(Long.MAX_VALUE, 4, 0, Duration.ofDays(1));

  private final AtomicInteger taken = new AtomicInteger();

  @TempDir private Path directory;

  private ServerSocket listener;

  @BeforeEach
  void listen() throws IOException {
    listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void stop() throws IOException {
    listener.close();
  }

  @Test
  void packets_count_that_the_node_has_decoded_or_refused() {
    serve(AttackProcessIT::answerAll);

    try (AttackProcess attackers = AttackProcess.start(false, 64, 7, log())) {
      AttackCounts counts =
          attackers.mutate(Door.MQTT, address(), new AttackPlan(640, 1, 0, LONGEST));

      assertThat(counts.judged()).isBetween(640L, 640L + 63);
      assertThat(counts.packets()).isGreaterThanOrEqualTo(counts.judged());
      assertThat(counts.connections()).isEqualTo(taken.get());
      assertThat(counts.unanswered()).isZero();
    }
  }

  @Test
  void packets_that_a_node_does_not_look_at_are_handed_over_and_no_more() {
    serve(socket -> socket.getInputStream().readAllBytes());

    try (AttackProcess attackers = AttackProcess.start(false, 64, 7, log())) {
      var plan = new AttackPlan(640, 1, 0, Duration.ofMillis(50));

      AttackCounts counts = attackers.mutate(Door.MQTT, address(), plan);

      assertThat(counts.packets()).isPositive();
      assertThat(counts.judged()).isZero();
      assertThat(counts.unanswered()).isZero();
    }
  }

  @Test
  void a_node_that_takes_no_connection_has_got_no_packet() throws IOException {
    listener.close();

    try (AttackProcess attackers = AttackProcess.start(false, 64, 7, log())) {
      var plan = new AttackPlan(640, 1, 0, Duration.ofMillis(50));

      assertThat(attackers.mutate(Door.MQTT, address(), plan)).isEqualTo(AttackCounts.NONE);
    }
  }

  @Test
  void refused_lengths_are_counted() {
    serve(socket -> {});

    try (AttackProcess attackers = AttackProcess.start(false, 64, 7, log())) {
      assertThat(attackers.declare(Door.MQTT, address(), 3)).isEqualTo(3);
    }
  }

  @Test
  void sockets_that_never_finish_stay_open_until_they_are_released() {
    AtomicInteger ended = new AtomicInteger();
    serve(socket -> {
      socket.getInputStream().readAllBytes();
      ended.incrementAndGet();
    });

    try (AttackProcess attackers = AttackProcess.start(false, 64, 7, log())) {
      assertThat(attackers.hold(20, everyListener())).isEqualTo(20);
      Eventually.within(LONGEST, () -> assertThat(taken).hasValue(20));
      assertThat(ended).hasValue(0);

      assertThat(attackers.letGo()).isEqualTo(20);
      Eventually.within(LONGEST, () -> assertThat(ended).hasValue(20));
    }
  }

  @Test
  void a_held_socket_sends_a_byte_a_second_while_others_are_replaced() throws Exception {
    CompletableFuture<Long> third = new CompletableFuture<>();
    AtomicBoolean first = new AtomicBoolean(true);
    serve(socket -> {
      if (first.compareAndSet(true, false) && socket.getInputStream().readNBytes(3).length == 3) {
        third.complete(System.nanoTime());
      }
    });
    long start = System.nanoTime();

    try (AttackProcess attackers = AttackProcess.start(false, 64, 7, log())) {
      attackers.hold(50, everyListener());

      assertThat(third.get(30, TimeUnit.SECONDS) - start).isGreaterThan(2_000_000_000L);
    }
  }

  @Test
  void attackers_have_the_lowest_priority_with_chrt() {
    boolean can = Files.isExecutable(Path.of("/usr/bin/chrt"));

    try (AttackProcess attackers = AttackProcess.start(true, 64, 7, log())) {
      Eventually.within(LONGEST, () -> assertThat(attackers.isSpare()).isEqualTo(can));
    }
  }

  @Test
  void attackers_end_with_their_parent_during_an_attack() throws Exception {
    serve(socket -> socket.getInputStream().readAllBytes());
    Process parent =
        new ProcessBuilder(
                JvmFlags.java(),
                "-cp",
                System.getProperty("java.class.path"),
                Parent.class.getName(),
                Integer.toString(listener.getLocalPort()),
                log().toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try {
      long pid = Long.parseLong(parent.inputReader(StandardCharsets.UTF_8).readLine());
      ProcessHandle attackers = ProcessHandle.of(pid).orElseThrow();
      Eventually.within(LONGEST, () -> assertThat(taken).hasPositiveValue());

      parent.destroyForcibly();

      attackers.onExit().get(LONGEST.toSeconds(), TimeUnit.SECONDS);
    } finally {
      parent.destroyForcibly();
    }
  }

  /// A parent whose attackers attack a port until the parent is killed.
  static final class Parent {
    private Parent() {}

    public static void main(String[] arguments) {
      try (AttackProcess attackers = AttackProcess.start(false, 64, 7, Path.of(arguments[1]))) {
        System.out.println(attackers.pid());
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0]));
        attackers.mutate(Door.MQTT, address, WITHOUT_END);
      }
    }
  }

  private interface Service {
    void take(Socket socket) throws IOException;
  }

  /// Handles each connection on a thread of its own, and closes it afterwards.
  private void serve(Service service) {
    Thread.ofVirtual()
        .start(() -> {
          while (!listener.isClosed()) {
            try {
              Socket socket = listener.accept();
              taken.incrementAndGet();
              Thread.ofVirtual().start(() -> serve(service, socket));
            } catch (IOException e) {
              return;
            }
          }
        });
  }

  private static void serve(Service service, Socket socket) {
    try (socket) {
      service.take(socket);
    } catch (IOException e) {
      // The attackers have ended.
    }
  }

  /// Admits whoever comes, answers each ping, and closes at the first packet of type 0.
  private static void answerAll(Socket socket) throws IOException {
    var in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
    OutputStream out = socket.getOutputStream();
    for (int type = in.read() >>> 4; type > 0; type = in.read() >>> 4) {
      int length = 0;
      int digit = 0x80;
      for (int shift = 0; digit >= 0x80 && shift < 28; shift += 7) {
        digit = in.readUnsignedByte();
        length |= (digit & 0x7F) << shift;
      }
      in.skipNBytes(length);
      if (type == 1) {
        out.write(new byte[] {0x20, 2, 0, 0});
      } else if (type == 12) {
        out.write(new byte[] {(byte) 0xD0, 0});
      }
    }
    socket.shutdownOutput();
    in.readAllBytes();
  }

  /// As if this one were all five.
  private Map<Door, InetSocketAddress> everyListener() {
    Map<Door, InetSocketAddress> listeners = new EnumMap<>(Door.class);
    for (Door door : Door.values()) {
      listeners.put(door, address());
    }
    return listeners;
  }

  private InetSocketAddress address() {
    return new InetSocketAddress("127.0.0.1", listener.getLocalPort());
  }

  private Path log() {
    return directory.resolve("attackers.log");
  }
}
