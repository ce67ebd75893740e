package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class StandstillIT {
  private final BlockingQueue<String> happened = new LinkedBlockingQueue<>();
  private final AtomicLong jumpedNanos = new AtomicLong();

  @Test
  void a_loop_that_stood_still_tells_before_it_reads_what_came_meanwhile() throws Exception {
    try (var transport = start();
        var client = OneLoop.connect(transport)) {
      transport.onStandstill(
          (_, gap) -> happened.add(gap.toSeconds() >= 60 ? "stood still" : "hiccup"));
      client.getOutputStream().write(1);
      assertThat(next()).isEqualTo("read");

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.getOutputStream().write(2);

      assertThat(next()).isEqualTo("stood still");
      assertThat(next()).isEqualTo("read");
    }
  }

  /// It is stopped after it has read, and before what it answers has left: another node may have the device since.
  @Test
  void what_a_turn_that_stood_still_was_about_to_send_is_not_sent_before_it_tells()
      throws Exception {
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
      transport.onStandstill((loop, _) -> {
        var connection = answering.get();
        if (connection != null) {
          loop.execute(() -> {
            connection.forgetPending();
            connection.closeAfterFlush();
          });
        }
      });
      client.setSoTimeout(30_000);
      client.getOutputStream().write(1);

      assertThat(client.getInputStream().read()).as("the end, and no byte before").isEqualTo(-1);
    }
  }

  /// The kernel had no room for it before, and has when the process goes on.
  @Test
  void what_waited_for_a_slow_reader_is_not_sent_on_before_it_tells() throws Exception {
    var accepted = new CompletableFuture<Connection>();
    try (var transport =
            OneLoop.start(
                this::nanoTime,
                connection -> {
                  accepted.complete(connection);
                  return input -> input.position(input.limit());
                });
        var client = OneLoop.connect(transport)) {
      var connection = accepted.get(60, TimeUnit.SECONDS);
      OneLoop.run(connection, connection::authenticated);
      OneLoop.fill(connection);
      OneLoop.run(connection, () -> connection.write(new byte[] {7}));
      transport.onStandstill((loop, _) ->
          loop.execute(() -> {
            connection.forgetPending();
            connection.closeAfterFlush();
          }));

      jumpedNanos.addAndGet(Duration.ofSeconds(60).toNanos());
      client.setSoTimeout(30_000);
      byte[] came = client.getInputStream().readAllBytes();

      assertThat(came).isNotEmpty().doesNotContain(7);
    }
  }

  /// A loaded machine may stand still for seconds of its own.
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
