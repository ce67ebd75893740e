package io.pushplanet.gateway.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TicketsTest {
  private static final Duration LONG = Duration.ofMinutes(5);

  private final Tickets tickets = new Tickets();

  @Test
  void concurrent_threads_go_on_in_the_order_of_their_tickets() throws Exception {
    List<Integer> out = new CopyOnWriteArrayList<>();
    List<Ticket> taken = IntStream.range(0, 1_000).mapToObj(_ -> tickets.take()).toList();
    List<Integer> started = new ArrayList<>(IntStream.range(0, 1_000).boxed().toList());
    Collections.shuffle(started, new Random(1));
    try (var workers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Boolean>> done = new ArrayList<>();
      for (int number : started) {
        done.add(
            workers.submit(() -> {
              boolean all = taken.get(number).await(LONG);
              out.add(number);
              taken.get(number).pass();
              return all;
            }));
      }
      for (Future<Boolean> one : done) {
        assertThat(one.get()).isTrue();
      }
    }
    assertThat(out).containsExactlyElementsOf(IntStream.range(0, 1_000).boxed().toList());
  }

  @Test
  void a_ticket_that_passes_early_lets_no_other_overtake_earlier_ones() throws Exception {
    Ticket first = tickets.take();
    Ticket second = tickets.take();
    Ticket third = tickets.take();
    Ticket fourth = tickets.take();

    second.pass();
    assertThat(third.await(Duration.ZERO)).isFalse();
    first.pass();

    assertThat(third.await(LONG)).isTrue();
    assertThat(fourth.await(Duration.ZERO)).isFalse();
  }

  @Test
  void a_ticket_that_never_passes_is_waited_for_once() throws Exception {
    tickets.take();
    Ticket second = tickets.take();
    Ticket third = tickets.take();

    assertThat(second.await(Duration.ofMillis(1))).isFalse();
    second.pass();

    assertThat(third.await(LONG)).isTrue();
  }

  /// If each ended its successor in a call, the stack would be too deep.
  @Test
  void very_many_tickets_that_passed_early_end_with_the_one_before_them() throws Exception {
    Ticket first = tickets.take();
    for (int others = 0; others < 200_000; others++) {
      tickets.take().pass();
    }
    Ticket last = tickets.take();

    first.pass();

    assertThat(last.await(LONG)).isTrue();
  }

  @Test
  void a_ticket_without_order_waits_for_no_other() throws Exception {
    tickets.take();
    assertThat(Ticket.ofNoOrder().await(Duration.ZERO)).isTrue();
  }
}
