package io.pushplanet.cm.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
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

  /// A loaded machine may stand still for seconds of its own.
  private String next() throws InterruptedException {
    String next;
    do {
      next = happened.poll(30, TimeUnit.SECONDS);
    } while ("hiccup".equals(next));
    return String.valueOf(next);
  }

  private Transport start() {
    return OneLoop.start(
        () -> System.nanoTime() + jumpedNanos.get(),
        connection ->
            input -> {
              connection.authenticated();
              input.position(input.limit());
              happened.add("read");
            });
  }
}
