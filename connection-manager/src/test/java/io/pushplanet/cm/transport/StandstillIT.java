package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.cm.TestCertificate;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StandstillIT {
  private final BlockingQueue<String> happened = new LinkedBlockingQueue<>();
  private final AtomicLong jumpedNanos = new AtomicLong();
  @TempDir private Path directory;

  @Test
  void a_loop_that_stood_still_tells_before_it_reads_what_came_meanwhile() throws Exception {
    try (var transport = start();
        var client = OneLoop.connect(transport)) {
      transport.onStandstill((_, gap, clock) -> {
        happened.add(gap.toSeconds() >= 60 ? "stood still" : "hiccup");
        return clock.getAsLong();
      });
      client.getOutputStream().write(1);
      assertThat(next()).isEqualTo("read");

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.getOutputStream().write(2);

      assertThat(next()).isEqualTo("stood still");
      assertThat(next()).isEqualTo("read");
    }
  }

  /// Comparing a million sessions takes as long as a standstill, but is none: bytes that are
  /// written afterwards leave.
  @Test
  void the_handling_of_a_standstill_may_take_longer_than_a_standstill() throws Exception {
    var told = new AtomicInteger();
    try (var transport =
            OneLoop.start(
                this::nanoTime,
                connection ->
                    input -> {
                      connection.authenticated();
                      input.position(input.limit());
                      connection.write(new byte[] {7});
                    });
        var client = OneLoop.connect(transport)) {
      transport.onStandstill((_, gap, clock) -> {
        if (gap.toSeconds() >= 60) {
          told.incrementAndGet();
          jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
        }
        return clock.getAsLong();
      });
      client.setSoTimeout(30_000);

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.getOutputStream().write(1);

      assertThat(client.getInputStream().read()).isEqualTo(7);
      assertThat(told).hasValue(1);
    }
  }

  /// The process is stopped on the way back, after the directory's last answer.
  @Test
  void a_second_standstill_while_the_first_is_handled_is_handled_too() throws Exception {
    var gaps = new LinkedBlockingQueue<Duration>();
    try (var transport =
            OneLoop.start(
                this::nanoTime,
                connection ->
                    input -> {
                      connection.authenticated();
                      input.position(input.limit());
                      connection.write(new byte[] {7});
                    });
        var client = OneLoop.connect(transport)) {
      transport.onStandstill((_, gap, clock) -> {
        long answered = clock.getAsLong();
        if (gap.toSeconds() >= 60) {
          gaps.add(gap);
          jumpedNanos.addAndGet(Duration.ofSeconds(gaps.size() == 1 ? 120 : 0).toNanos());
        }
        return answered;
      });
      client.setSoTimeout(30_000);

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.getOutputStream().write(1);

      assertThat(client.getInputStream().read()).isEqualTo(7);
      assertThat(gaps)
          .hasSize(2)
          .last()
          .satisfies(gap -> assertThat(gap).isGreaterThan(Duration.ofSeconds(119)));
    }
  }

  /// The process is stopped after it has read and before its answer has left: another node may have
  /// the device since.
  @Test
  void a_turn_that_stood_still_sends_nothing_before_the_standstill_is_handled() throws Exception {
    var answering = new AtomicReference<Connection>();
    try (var transport =
            OneLoop.start(
                this::nanoTime,
                connection ->
                    input -> {
                      connection.authenticated();
                      input.position(input.limit());
                      answering.set(connection);
                      connection.write(new byte[] {7});
                      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
                    });
        var client = OneLoop.connect(transport)) {
      transport.onStandstill((loop, _, clock) -> {
        var connection = answering.get();
        if (connection != null) {
          loop.execute(() -> {
            assertThat(connection.dropPending()).isTrue();
            connection.closeAfterFlush();
          });
        }
        return clock.getAsLong();
      });
      client.setSoTimeout(30_000);
      client.getOutputStream().write(1);

      assertThat(client.getInputStream().read()).as("the end, and no byte before").isEqualTo(-1);
    }
  }

  /// The process can be stopped at each reading of the clock. Bytes that left before that were
  /// right to send.
  @ParameterizedTest
  @MethodSource("looks")
  void wherever_a_turn_stops_nothing_leaves_afterwards_before_it_tells(int look) throws Exception {
    var looksLeft = new AtomicInteger(Integer.MAX_VALUE);
    var stoppedBefore = new AtomicBoolean();
    var accepted = new CompletableFuture<Connection>();
    var answered = new AtomicBoolean();
    LongSupplier stopping =
        () -> {
          if (looksLeft.decrementAndGet() == 0) {
            boolean left = answered.get() && accepted.join().pendingBytes() == 0;
            stoppedBefore.set(!left);
            jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
          }
          return nanoTime();
        };
    try (var transport =
            OneLoop.start(
                stopping,
                connection -> {
                  accepted.complete(connection);
                  return input -> {
                    input.position(input.limit());
                    answered.set(true);
                    connection.write(new byte[] {7});
                  };
                });
        var client = OneLoop.connect(transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      transport.onStandstill((loop, _, clock) -> {
        loop.execute(() -> {
          connection.dropPending();
          connection.closeAfterFlush();
        });
        return clock.getAsLong();
      });
      client.setSoTimeout(30_000);
      looksLeft.set(look);
      client.getOutputStream().write(1);

      int came = client.getInputStream().read();

      assertThat(came).isEqualTo(stoppedBefore.get() ? -1 : 7);
    }
  }

  private static IntStream looks() {
    return IntStream.rangeClosed(1, 9);
  }

  /// The kernel had no room for the bytes before, and has when the process continues.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void bytes_for_a_slow_reader_wait_until_the_standstill_is_handled(boolean overTls)
      throws Exception {
    var accepted = new CompletableFuture<Connection>();
    try (var transport =
            OneLoop.start(
                this::nanoTime,
                new Heap(),
                overTls ? OneLoop.identity(directory) : null,
                connection -> {
                  accepted.complete(connection);
                  return input -> input.position(input.limit());
                });
        var client = overTls ? overTls(transport) : OneLoop.connect(transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      int pieces = OneLoop.fill(connection);
      OneLoop.run(connection, () -> connection.write(new byte[] {7}));
      int waiting = Math.ceilDiv(OneLoop.pending(connection) - 1, OneLoop.PIECE);
      assertThat(waiting).isPositive();
      var dropped = new CompletableFuture<Boolean>();
      transport.onStandstill((loop, _, clock) -> {
        loop.execute(() -> {
          dropped.complete(connection.dropPending());
          connection.close(CloseCause.OURS);
        });
        return clock.getAsLong();
      });

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.setSoTimeout(30_000);
      byte[] came = untilTheEnd(client.getInputStream());

      // Over TLS, one more piece is in the record that is being sent.
      int gone = pieces - waiting - (overTls ? 1 : 0);
      assertThat(came).isNotEmpty().doesNotContain(7);
      assertThat(came.length / OneLoop.PIECE).isLessThanOrEqualTo(gone);
      if (overTls) {
        assertThat(dropped).isCompletedWithValue(false);
      }
    }
  }

  private static Socket overTls(Transport transport) throws Exception {
    var socket =
        (SSLSocket)
            new TestCertificate.Witness()
                .context()
                .getSocketFactory()
                .createSocket("127.0.0.1", transport.port("test"));
    socket.startHandshake();
    return socket;
  }

  /// TLS reports no end if the peer sends no close.
  private static byte[] untilTheEnd(InputStream input) throws IOException {
    var came = new ByteArrayOutputStream();
    byte[] some = new byte[OneLoop.PIECE];
    try {
      for (int read = input.read(some); read > 0; read = input.read(some)) {
        came.write(some, 0, read);
      }
    } catch (SSLException | SocketException _) {
      // That was the end of the stream.
    }
    return came.toByteArray();
  }

  /// A loaded machine may add seconds of standstill.
  private String next() throws InterruptedException {
    String next;
    do {
      next = happened.poll(30, TimeUnit.SECONDS);
    } while ("hiccup".equals(next));
    return String.valueOf(next);
  }

  private long nanoTime() {
    return System.nanoTime() + jumpedNanos.get();
  }

  private Transport start() {
    return OneLoop.start(
        this::nanoTime,
        connection ->
            input -> {
              connection.authenticated();
              input.position(input.limit());
              happened.add("read");
            });
  }
}
