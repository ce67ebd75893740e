package io.pushplanet.cm.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.session.QuietClient;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
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

class CommandPipelineTest {
  private static final int MAX = 600;
  private static final long ENDS = 70;

  private final MutableClock clock = MutableClock.started();
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final DirectoryMetrics metrics = new DirectoryMetrics(meters);
  private final DirectoryHealth health = new DirectoryHealth(metrics, meters);
  private final ArrayDeque<Runnable> sender = new ArrayDeque<>();
  private final Asked asked = new Asked();
  private final HandLoop loop = new HandLoop();
  private final BreakingLoop broken = new BreakingLoop();
  private final List<String> told = new ArrayList<>();
  private final List<Command> unconfirmed = new ArrayList<>();
  private int refusals;
  private final CommandPipeline commands =
      new CommandPipeline(
          asked,
          health,
          metrics,
          meters,
          clock,
          MAX,
          Duration.ofSeconds(5),
          this::execute,
          unconfirmed::add);

  @Test
  void a_round_trip_carries_all_waiting_commands_in_order() {
    IntStream.range(0, 3).forEach(this::claim);
    commands.add(new Command.Release(device(0), 7), null);

    send();

    assertThat(asked.batches).hasSize(1);
    assertThat(asked.batches.getFirst())
        .containsExactly(
            new Command.Claim(device(0), FormerSession.RESUME, ENDS),
            new Command.Claim(device(1), FormerSession.RESUME, ENDS),
            new Command.Claim(device(2), FormerSession.RESUME, ENDS),
            new Command.Release(device(0), 7));
    assertThat(commands.waiting()).isZero();
  }

  @Test
  void a_loop_receives_all_its_answers_in_one_task() {
    IntStream.range(0, 3).forEach(this::claim);

    send();

    assertThat(loop.tasks()).isOne();
    loop.turn();
    assertThat(told).containsExactly("0 has 100", "1 has 101", "2 has 102");
  }

  @Test
  void commands_beyond_one_round_trip_are_sent_in_the_next_ones() {
    IntStream.range(0, MAX).forEach(this::claim);

    while (!sender.isEmpty()) {
      assertThat(sender).hasSize(1);
      send();
    }

    assertThat(asked.batches).extracting(List::size).containsExactly(256, 256, 88);
  }

  @Test
  void a_failed_command_does_not_affect_its_neighbours() {
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
  void a_directory_that_fails_every_command_counts_as_away() {
    asked.answers = answers -> answers.stream().<Answer>map(_ -> new Answer.Failed("OOM")).toList();
    IntStream.range(0, 2).forEach(this::claim);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 has no answer", "1 has no answer");
    assertThat(health.isReachable()).isFalse();
  }

  @Test
  void a_directory_that_goes_away_is_not_asked_again_and_each_callback_is_called() {
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
  void commands_that_are_not_sent_are_not_counted_as_failed_calls() {
    asked.away = true;
    claim(0);
    send();
    claim(1);
    commands.add(new Command.Release(device(2), 7), null);
    send();

    assertThat(failures()).isEqualTo(1);
    assertThat(meters.get("cm.session.commands.unsent").counter().count()).isEqualTo(2);
  }

  @Test
  void a_command_without_a_callback_is_given_back_when_the_directory_is_away() {
    asked.away = true;
    claim(0);
    commands.add(new Command.Release(device(1), 7), null);
    send();
    commands.add(new Command.Release(device(2), 7), null);
    send();

    assertThat(unconfirmed)
        .containsExactly(new Command.Release(device(1), 7), new Command.Release(device(2), 7));
  }

  /// A claim without an answer drops the pending release of its device.
  @Test
  void commands_are_given_back_before_any_callback_is_called() {
    asked.away = true;
    commands.add(new Command.Release(device(1), 7), null);
    var givenBack = new AtomicInteger();
    commands.add(
        new Command.Claim(device(1), FormerSession.RESUME, ENDS),
        new CommandPipeline.Callback(
            new QuietClient().loop(),
            _ -> () -> givenBack.set(unconfirmed.size()),
            () -> told.add("too late")));

    send();

    assertThat(givenBack).hasValue(1);
  }

  @Test
  void a_faulty_script_does_not_leave_a_claim_without_an_answer() {
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

  /// Redis may have carried out the command.
  @Test
  void a_command_without_a_callback_is_given_back_when_the_script_is_faulty() {
    asked.answers =
        _ -> {
          throw new IllegalStateException("a bug");
        };
    commands.add(new Command.Release(device(1), 7), null);
    claim(0);

    send();
    loop.turn();

    assertThat(unconfirmed).containsExactly(new Command.Release(device(1), 7));
    assertThat(told).containsExactly("0 has no answer");
  }

  @Test
  void a_command_without_a_callback_is_given_back_when_an_earlier_callback_fails() {
    claim(0, broken);
    clock.advance(Duration.ofSeconds(6));
    commands.add(new Command.Release(device(1), 7), null);
    broken.breaks = true;

    send();

    assertThat(asked.batches).isEmpty();
    assertThat(unconfirmed).containsExactly(new Command.Release(device(1), 7));
  }

  @Test
  void a_command_that_cannot_be_made_does_not_affect_its_neighbours() {
    claim(0);
    commands.add(
        () -> {
          throw new LinkageError("a class is missing");
        },
        null);
    claim(1);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 has 100", "1 has 101");
    assertThat(commands.waiting()).isZero();
  }

  @Test
  void a_callback_is_not_called_again_when_another_hand_over_fails() {
    claim(0);
    claim(1, broken);
    broken.breaks = true;

    send();
    loop.turn();
    broken.turn();

    assertThat(told).containsExactly("0 has 100", "1 has no answer");
  }

  @Test
  void a_failed_hand_over_of_late_claims_leaves_no_claim_without_an_answer() {
    claim(0, broken);
    clock.advance(Duration.ofSeconds(6));
    claim(1);
    broken.breaks = true;

    send();
    loop.turn();
    broken.turn();

    assertThat(told).containsExactly("1 has no answer", "0 has no answer");
  }

  @Test
  void a_sender_that_refused_once_is_used_again() {
    refusals = 1;
    assertThatThrownBy(() -> claim(0)).isInstanceOf(RejectedExecutionException.class);

    claim(1);
    send();
    loop.turn();

    assertThat(told).containsExactly("0 has 100", "1 has 101");
  }

  @Test
  void a_claim_that_waited_too_long_is_not_sent_but_a_write_is() {
    claim(0);
    commands.add(
        new Command.Remember(device(9), 5, Subscription.of(QoS.AT_LEAST_ONCE, 0), 9), null);
    clock.advance(Duration.ofSeconds(6));
    claim(1);

    send();
    loop.turn();

    assertThat(told).containsExactly("0 is too late", "1 has 101");
    assertThat(asked.batches.getFirst())
        .extracting(Command::device)
        .containsExactly(device(9), device(1));
  }

  @Test
  void a_full_queue_refuses_and_counts_each_command_and_logs_once() {
    try (var log = new LogLines(CommandPipeline.class)) {
      IntStream.range(0, MAX).forEach(this::claim);

      assertThat(claim(MAX)).isFalse();
      assertThat(claim(MAX + 1)).isFalse();

      assertThat(meters.get("cm.session.registrations.refused").counter().count()).isEqualTo(2);
      while (!sender.isEmpty()) {
        send();
      }
      assertThat(claim(MAX)).isTrue();
      assertThat(log.said())
          .containsExactly(
              "event=commands_full waiting=600 allowed=cm.directory.waiting",
              "event=commands_flow_again");
    }
  }

  @Test
  void a_failing_callback_does_not_affect_its_neighbours() {
    commands.add(
        new Command.Claim(device(0), FormerSession.FORGET, ENDS),
        new CommandPipeline.Callback(
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
    return commands.add(
        new Command.Claim(device(number), FormerSession.RESUME, ENDS),
        new CommandPipeline.Callback(
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

  /// A loop that cannot take a task.
  private static final class BreakingLoop extends HandLoop {
    private boolean breaks;

    @Override
    public void execute(Runnable task) {
      if (breaks) {
        breaks = false;
        throw new LinkageError("a class is missing");
      }
      super.execute(task);
    }
  }

  /// Device n gets epoch 100 + n.
  private static final class Asked implements Directory {
    private final List<List<Command>> batches = new ArrayList<>();
    private UnaryOperator<List<Answer>> answers = UnaryOperator.identity();
    private boolean away;

    @Override
    public List<Answer> execute(List<Command> some) {
      batches.add(some);
      if (away) {
        throw new RedisUnavailable("away", null);
      }
      return answers.apply(some.stream().map(Asked::done).toList());
    }

    private static Answer done(Command command) {
      return command instanceof Command.Claim(var device, _, _)
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
