package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Former;
import io.pushplanet.cm.directory.Directory.Order;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.testing.MutableClock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OrderLineTest {
  private static final int MOST = 600;
  private static final long ENDS = 70;

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final DirectoryMetrics metrics = new DirectoryMetrics(meters);
  private final DirectoryHealth health = new DirectoryHealth(metrics, meters);
  private final ArrayDeque<Runnable> sender = new ArrayDeque<>();
  private final Asked asked = new Asked();
  private final HandLoop loop = new HandLoop();
  private final HandLoop broken = new HandLoop();
  private final List<String> told = new ArrayList<>();
  private final List<Order> untold = new ArrayList<>();
  private int refusals;
  private final OrderLine line =
      new OrderLine(
          asked,
          health,
          metrics,
          meters,
          clock,
          MOST,
          Duration.ofSeconds(5),
          this::execute,
          untold::add);

  @Test
  void who_stands_in_line_when_a_round_trip_begins_travels_in_it_in_order() {
    IntStream.range(0, 3).forEach(this::claim);
    line.add(new Order.Release(device(0), 7), null);

    send();

    assertThat(asked.batches).hasSize(1);
    assertThat(asked.batches.getFirst())
        .containsExactly(
            new Order.Claim(device(0), Former.RESUME, ENDS),
            new Order.Claim(device(1), Former.RESUME, ENDS),
            new Order.Claim(device(2), Former.RESUME, ENDS),
            new Order.Release(device(0), 7));
    assertThat(line.waiting()).isZero();
  }

  @Test
  void a_loop_is_told_all_its_answers_in_one_task() {
    IntStream.range(0, 3).forEach(this::claim);

    send();

    assertThat(loop.tasks).hasSize(1);
    loop.turn();
    assertThat(told).containsExactly("0 has 100", "1 has 101", "2 has 102");
  }

  @Test
  void more_than_a_round_trip_takes_go_in_the_next_ones_one_at_a_time() {
    IntStream.range(0, MOST).forEach(this::claim);

    while (!sender.isEmpty()) {
      assertThat(sender).hasSize(1);
      send();
    }

    assertThat(asked.batches).extracting(List::size).containsExactly(256, 256, 88);
  }

  @Test
  void one_that_fails_does_not_hurt_its_neighbours() {
    asked.answers =
        answers -> {
          var some = new ArrayList<>(answers);
          some.set(1, new Answer.Failed("WRONGTYPE"));
          return some;
        };
    IntStream.range(0, 3).forEach(this::claim);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 has 100", "1 failed", "2 has 102");
    assertThat(health.isReachable()).isTrue();
    assertThat(failures()).isEqualTo(1);
  }

  @Test
  void a_directory_that_carries_nothing_out_counts_as_away() {
    asked.answers = answers -> answers.stream().<Answer>map(_ -> new Answer.Failed("OOM")).toList();
    IntStream.range(0, 2).forEach(this::claim);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 has no answer", "1 has no answer");
    assertThat(health.isReachable()).isFalse();
  }

  @Test
  void when_the_directory_goes_away_in_the_middle_nobody_waits_and_nobody_asks_again() {
    asked.away = true;
    claim(0);
    claim(1);

    send();
    claim(2);
    send();
    loop.turn();

    assertThat(told).containsExactly("0 has no answer", "1 has no answer", "2 has no answer");
    assertThat(asked.batches).hasSize(1);
    assertThat(health.isReachable()).isFalse();
  }

  @Test
  void orders_that_are_not_even_sent_are_counted_but_not_as_calls_that_failed() {
    asked.away = true;
    claim(0);
    send();
    claim(1);
    line.add(new Order.Release(device(2), 7), null);
    send();

    assertThat(failures()).isEqualTo(1);
    assertThat(meters.get("cm.session.orders.untold").counter().count()).isEqualTo(2);
  }

  @Test
  void what_nobody_waits_for_is_given_back_when_nobody_knows_whether_it_was_carried_out() {
    asked.away = true;
    claim(0);
    line.add(new Order.Release(device(1), 7), null);
    send();
    line.add(new Order.Release(device(2), 7), null);
    send();

    assertThat(untold)
        .containsExactly(new Order.Release(device(1), 7), new Order.Release(device(2), 7));
  }

  /// Whoever hears that there is no answer forgets what was untold of his device.
  @Test
  void what_is_given_back_is_given_back_before_anybody_hears_that_there_is_no_answer() {
    asked.away = true;
    line.add(new Order.Release(device(1), 7), null);
    var untoldBefore = new AtomicInteger();
    line.add(
        new Order.Claim(device(1), Former.RESUME, ENDS),
        new OrderLine.Asker(
            new QuietClient().loop(),
            _ -> () -> untoldBefore.set(untold.size()),
            () -> told.add("too late")));

    send();

    assertThat(untoldBefore).hasValue(1);
  }

  @Test
  void a_script_that_is_wrong_leaves_nobody_without_an_answer() {
    asked.answers =
        _ -> {
          throw new IllegalStateException("a bug");
        };
    claim(0);

    send();
    claim(1);
    asked.answers = UnaryOperator.identity();
    send();
    loop.turn();

    assertThat(told).containsExactly("0 has no answer", "1 has 101");
  }

  /// Nobody knows what was carried out.
  @Test
  void what_nobody_waits_for_is_given_back_too_when_a_script_is_wrong() {
    asked.answers =
        _ -> {
          throw new IllegalStateException("a bug");
        };
    line.add(new Order.Release(device(1), 7), null);
    claim(0);

    send();
    loop.turn();

    assertThat(untold).containsExactly(new Order.Release(device(1), 7));
    assertThat(told).containsExactly("0 has no answer");
  }

  @Test
  void what_nobody_waits_for_is_given_back_too_when_those_before_it_cannot_be_told() {
    claim(0, broken);
    clock.advance(Duration.ofSeconds(6));
    line.add(new Order.Release(device(1), 7), null);
    broken.breaksAt = 1;

    send();

    assertThat(asked.batches).isEmpty();
    assertThat(untold).containsExactly(new Order.Release(device(1), 7));
  }

  @Test
  void an_order_that_cannot_be_made_takes_no_answer_from_its_neighbours() {
    claim(0);
    line.add(
        () -> {
          throw new LinkageError("a class is missing");
        },
        null);
    claim(1);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 has 100", "1 has 101");
    assertThat(line.waiting()).isZero();
  }

  @Test
  void who_was_told_before_the_answers_could_not_be_handed_back_is_not_told_again() {
    claim(0);
    claim(1, broken);
    broken.breaksAt = 1;

    send();
    loop.turn();
    broken.turn();

    assertThat(told).containsExactly("0 has 100", "1 has no answer");
  }

  @Test
  void those_who_are_too_late_and_cannot_be_told_so_leave_nobody_without_an_answer() {
    claim(0, broken);
    clock.advance(Duration.ofSeconds(6));
    claim(1);
    broken.breaksAt = 1;

    send();
    loop.turn();
    broken.turn();

    assertThat(told).containsExactly("1 has no answer", "0 has no answer");
  }

  @Test
  void a_sender_that_refused_once_is_asked_again() {
    refusals = 1;
    assertThatThrownBy(() -> claim(0)).isInstanceOf(RejectedExecutionException.class);

    claim(1);
    send();
    loop.turn();

    assertThat(told).containsExactly("0 has 100", "1 has 101");
  }

  @Test
  void who_stood_in_line_for_too_long_is_not_asked_for_but_what_must_be_written_is() {
    claim(0);
    line.add(new Order.Remember(device(9), 5, Subscription.of(QoS.AT_LEAST_ONCE, 0), 9), null);
    clock.advance(Duration.ofSeconds(6));
    claim(1);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 is too late", "1 has 101");
    assertThat(asked.batches.getFirst())
        .extracting(Order::device)
        .containsExactly(device(9), device(1));
  }

  @Test
  void a_full_line_takes_nobody_counts_each_and_says_so_once() {
    try (var log = new LogLines(OrderLine.class)) {
      IntStream.range(0, MOST).forEach(this::claim);

      assertThat(claim(MOST)).isFalse();
      assertThat(claim(MOST + 1)).isFalse();

      assertThat(meters.get("cm.session.registrations.refused").counter().count()).isEqualTo(2);
      while (!sender.isEmpty()) {
        send();
      }
      assertThat(claim(MOST)).isTrue();
      assertThat(log.said())
          .containsExactly(
              "event=registrations_full waiting=600 allowed=cm.directory.waiting",
              "event=registrations_flow_again");
    }
  }

  @Test
  void what_goes_wrong_for_one_device_takes_no_answer_from_its_neighbours() {
    line.add(
        new Order.Claim(device(0), Former.FORGET, ENDS),
        new OrderLine.Asker(
            loop,
            _ -> {
              throw new IllegalStateException("a bug");
            },
            () -> {}));
    claim(1);

    send();
    loop.turn();

    assertThat(told).containsExactly("1 has 101");
  }

  private boolean claim(int number) {
    return claim(number, loop);
  }

  private boolean claim(int number, HandLoop on) {
    return line.add(
        new Order.Claim(device(number), Former.RESUME, ENDS),
        new OrderLine.Asker(
            on,
            answer ->
                () ->
                    told.add(
                        number
                            + answer
                                .map(known ->
                                    known instanceof Answer.Claimed claimed
                                        ? " has " + claimed.epoch()
                                        : " failed")
                                .orElse(" has no answer")),
            () -> told.add(number + " is too late")));
  }

  private static DeviceKey device(int number) {
    return new DeviceKey(new AppId("shop"), new DeviceId("d" + number));
  }

  private void send() {
    sender.remove().run();
  }

  private void execute(Runnable task) {
    if (refusals > 0) {
      refusals--;
      throw new RejectedExecutionException("no thread");
    }
    sender.add(task);
  }

  private double failures() {
    return meters.get("cm.session.directory.failures").counter().count();
  }

  /// Runs when it is told to.
  private static final class HandLoop implements Loop {
    private final List<Runnable> tasks = new ArrayList<>();
    private int times;
    private int breaksAt;

    @Override
    public void execute(Runnable task) {
      if (++times == breaksAt) {
        throw new LinkageError("a class is missing");
      }
      tasks.add(task);
    }

    @Override
    public void executeAfter(Duration wait, Runnable task) {
      throw new UnsupportedOperationException();
    }

    @Override
    public long nowNanos() {
      return 0;
    }

    void turn() {
      tasks.forEach(Runnable::run);
      tasks.clear();
    }
  }

  /// Device n gets epoch 100 + n.
  private static final class Asked implements Directory {
    private final List<List<Order>> batches = new ArrayList<>();
    private UnaryOperator<List<Answer>> answers = UnaryOperator.identity();
    private boolean away;

    @Override
    public List<Answer> carryOut(List<Order> orders) {
      batches.add(orders);
      if (away) {
        throw new DirectoryUnavailable("away", null);
      }
      return answers.apply(orders.stream().map(Asked::done).toList());
    }

    private static Answer done(Order order) {
      return order instanceof Order.Claim(var device, _, _)
          ? new Answer.Claimed(
              100 + Long.parseLong(device.device().value().substring(1)),
              Optional.empty(),
              false,
              Optional.empty())
          : new Answer.Done();
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      return Map.of();
    }

    @Override
    public Announcement announce(Map<DeviceKey, Announced> sessions) {
      return new Announcement(Map.of(), Set.of());
    }

    @Override
    public Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds) {
      return Set.of();
    }
  }
}
