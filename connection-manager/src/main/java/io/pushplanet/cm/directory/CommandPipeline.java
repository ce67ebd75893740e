package io.pushplanet.cm.directory;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.cm.transport.LoopTasks;
import io.pushplanet.common.redis.RedisUnavailable;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The queue of commands to the directory. A round trip carries up to [#MAX_TOGETHER] commands
/// that wait when it begins, and its answers go back to each event loop in one hand-over. One round
/// trip runs at a time, so the commands of a device keep their order. Each callback is called
/// exactly once, whatever fails. Thread-safe; callers never wait.
final class CommandPipeline {
  private static final Logger LOG = LoggerFactory.getLogger(CommandPipeline.class);

  /// Redis is busy with them for about a millisecond, and serves no other client meanwhile.
  private static final int MAX_TOGETHER = 256;

  private static final Function<Callback, Runnable> NO_ANSWER =
      callback -> callback.answered().apply(Optional.empty());

  private final Directory directory;
  private final DirectoryHealth health;
  private final DirectoryMetrics metrics;
  private final InstantSource clock;
  private final int most;
  private final Duration patience;
  private final Executor sender;
  private final Consumer<Command> unconfirmed;
  private final Queue<Queued> queue = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicBoolean sending = new AtomicBoolean();
  private final AtomicBoolean full = new AtomicBoolean();
  private volatile boolean complained;

  /// A caller that waits for an answer, and its loop.
  ///
  /// @param answered receives the answer on the sender's thread, in the order of all answers, and
  ///     returns the task for the loop; an empty answer means that the directory is away, and that
  ///     the command may or may not have been carried out
  /// @param tooLate the task for the loop when the command waited for too long and was not sent
  record Callback(Loop loop, Function<Optional<Answer>, Runnable> answered, Runnable tooLate) {}

  private static final class Queued {
    private final Supplier<Command> supplier;
    private final @Nullable Callback callback;
    private final long sinceMillis;
    // Set when it is sent.
    private @Nullable Command command;
    // Confined to the callback's loop.
    private boolean called;

    Queued(Supplier<Command> supplier, @Nullable Callback callback, long sinceMillis) {
      this.supplier = supplier;
      this.callback = callback;
      this.sinceMillis = sinceMillis;
    }

    boolean isTooLate(long latestMillis) {
      return callback != null && sinceMillis < latestMillis;
    }

    /// A failing callback must not keep the answers of other callbacks back.
    private static Runnable taskOf(Callback callback, Function<Callback, Runnable> how) {
      try {
        return how.apply(callback);
      } catch (RuntimeException | Error bug) {
        LOG.error("event=answer_error", bug);
        return callback.tooLate();
      }
    }

    /// Only the first task runs: when handing back the answers fails, the sender does not know
    /// which tasks were handed over, and hands all of them over again.
    void call(LoopTasks tasks, Function<Callback, Runnable> how) {
      Callback its = callback;
      if (its != null) {
        Runnable task = taskOf(its, how);
        tasks.add(
            its.loop(),
            () -> {
              if (!called) {
                called = true;
                task.run();
              }
            });
      }
    }
  }

  /// @param most commands in the queue
  /// @param patience a command with a callback that waited for longer is not sent any more
  /// @param sender runs blocking tasks, one after the other; it may delay a task so that more
  ///     commands gather
  /// @param unconfirmed receives each command without a callback that may not have been carried out
  CommandPipeline(
      Directory directory,
      DirectoryHealth health,
      DirectoryMetrics metrics,
      MeterRegistry meters,
      InstantSource clock,
      int most,
      Duration patience,
      Executor sender,
      Consumer<Command> unconfirmed) {
    this.directory = directory;
    this.health = health;
    this.metrics = metrics;
    this.clock = clock;
    this.most = most;
    this.patience = patience;
    this.sender = sender;
    this.unconfirmed = unconfirmed;
    Gauge.builder("cm.session.registrations.waiting", waiting, AtomicInteger::get).register(meters);
  }

  int waiting() {
    return waiting.get();
  }

  /// @return false when the queue is full
  boolean add(Command command, @Nullable Callback callback) {
    return add(() -> command, callback);
  }

  /// @param command called once, on another thread, when the command is sent; not when the command
  ///     is too late
  /// @return false when the queue is full: `command` is not called
  boolean add(Supplier<Command> command, @Nullable Callback callback) {
    if (waiting.incrementAndGet() > most) {
      waiting.decrementAndGet();
      metrics.registrationsRefused.increment();
      if (full.compareAndSet(false, true)) {
        LOG.warn("event=commands_full waiting={} allowed=cm.directory.waiting", most);
      }
      return false;
    }
    queue.add(new Queued(command, callback, clock.millis()));
    send();
    return true;
  }

  private void send() {
    if (!queue.isEmpty() && sending.compareAndSet(false, true)) {
      try {
        sender.execute(this::sendSome);
      } catch (RuntimeException | Error refused) {
        sending.set(false);
        throw refused;
      }
    }
  }

  private void sendSome() {
    try {
      execute(take());
    } finally {
      sending.set(false);
      send();
    }
  }

  /// Allocates before it polls: a polled command must not get lost when memory runs out.
  private List<Queued> take() {
    var some = new ArrayList<Queued>(MAX_TOGETHER);
    while (some.size() < MAX_TOGETHER) {
      Queued next = queue.poll();
      if (next == null) {
        break;
      }
      some.add(next);
    }
    return some;
  }

  private void execute(List<Queued> some) {
    try {
      List<Queued> sent = inTime(some);
      if (!trySend(sent)) {
        fail(some);
      }
    } catch (RuntimeException | Error bug) {
      metrics.directoryFailures.increment();
      LOG.error("event=commands_failed commands={}", some.size(), bug);
      fail(some);
    } finally {
      if (waiting.addAndGet(-some.size()) == 0 && full.compareAndSet(true, false)) {
        LOG.info("event=commands_flow_again");
      }
    }
  }

  /// The commands to send. The callbacks of the others are called.
  private List<Queued> inTime(List<Queued> some) {
    long latest = clock.millis() - patience.toMillis();
    var sent = new ArrayList<Queued>(some.size());
    var tasks = new LoopTasks();
    for (Queued each : some) {
      if (each.isTooLate(latest)) {
        each.call(tasks, Callback::tooLate);
        continue;
      }
      try {
        each.command = each.supplier.get();
        sent.add(each);
      } catch (RuntimeException | Error bug) {
        metrics.directoryFailures.increment();
        LOG.error("event=command_not_made", bug);
        each.call(tasks, NO_ANSWER);
      }
    }
    tasks.go();
    return sent;
  }

  /// @return false when the directory is away, and the commands may or may not have been carried
  ///     out
  private boolean trySend(List<Queued> some) {
    if (!health.isReachable()) {
      metrics.commandsUnsent.increment(some.size());
      return false;
    }
    try {
      handBack(some);
      return true;
    } catch (RedisUnavailable away) {
      health.failed(away);
      return false;
    }
  }

  /// The commands may or may not have been carried out. Commands without a callback are given back
  /// before any callback is called: a device whose claim has no answer may be connected again, and
  /// the release of its last connection is dropped then.
  private void fail(List<Queued> some) {
    try {
      giveBack(some);
    } finally {
      handBackNothing(some);
    }
  }

  private void giveBack(List<Queued> some) {
    for (Queued each : some) {
      Command command = each.command;
      if (each.callback == null && command != null) {
        unconfirmed.accept(command);
      }
    }
  }

  private void handBack(List<Queued> some) {
    if (some.isEmpty()) {
      return;
    }
    List<Answer> answers = ask(some);
    var tasks = new LoopTasks();
    for (int index = 0; index < some.size(); index++) {
      var answer = Optional.of(answers.get(index));
      some.get(index).call(tasks, callback -> callback.answered().apply(answer));
    }
    tasks.go();
  }

  private static void handBackNothing(List<Queued> some) {
    var tasks = new LoopTasks();
    for (Queued each : some) {
      each.call(tasks, NO_ANSWER);
    }
    tasks.go();
  }

  private List<Answer> ask(List<Queued> some) {
    List<Answer> answers =
        directory.execute(some.stream().map(each -> requireNonNull(each.command)).toList());
    metrics.registrations.record(some.size());
    int failed = 0;
    var why = "";
    for (Answer answer : answers) {
      if (answer instanceof Answer.Failed(String reason)) {
        failed++;
        why = reason;
      }
    }
    if (failed == some.size()) {
      throw new RedisUnavailable("Redis carries nothing out: " + why, null);
    }
    metrics.directoryFailures.increment(failed);
    if (failed > 0 && !complained) {
      LOG.warn("event=commands_refused failed={} of={} reason=\"{}\"", failed, some.size(), why);
    }
    complained = failed > 0;
    return answers;
  }
}
