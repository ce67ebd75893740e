package io.pushplanet.cm.directory;

import static java.util.Objects.requireNonNull;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Order;
import io.pushplanet.cm.transport.HandOver;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DirectoryUnavailable;
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

/// Orders to the directory, one line of them: whoever stands there when a round trip begins travels in it, up to
/// [#MOST_TOGETHER], and the answers go back to each event loop in one hand-over. One round trip at a time, so orders of a device keep
/// their order. Whoever asks is told once, whatever goes wrong. Thread-safe; callers never wait.
final class OrderLine {
  private static final Logger LOG = LoggerFactory.getLogger(OrderLine.class);

  /// Redis does nothing else meanwhile: about a millisecond.
  private static final int MOST_TOGETHER = 256;

  private static final Function<Asker, Runnable> NO_ANSWER =
      asker -> asker.answered().apply(Optional.empty());

  private final Directory directory;
  private final DirectoryHealth health;
  private final DirectoryMetrics metrics;
  private final InstantSource clock;
  private final int most;
  private final Duration patience;
  private final Executor sender;
  private final Consumer<Order> untold;
  private final Queue<Waiting> line = new ConcurrentLinkedQueue<>();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicBoolean underWay = new AtomicBoolean();
  private final AtomicBoolean full = new AtomicBoolean();
  private volatile boolean complained;

  /// A caller that waits for an answer, and its loop.
  ///
  /// @param answered is given the answer on the sender's thread, in the order of all answers, and returns what the loop has to
  ///     do; without an answer the directory is away, and it is unknown what became of the order
  record Asker(Loop loop, Function<Optional<Answer>, Runnable> answered, Runnable tooLate) {}

  /// Who stands in line.
  private static final class Waiting {
    private final Supplier<Order> wish;
    private final @Nullable Asker asker;
    private final long sinceMillis;
    // Once its turn has come.
    private @Nullable Order order;
    // Of the asker's loop.
    private boolean told;

    Waiting(Supplier<Order> wish, @Nullable Asker asker, long sinceMillis) {
      this.wish = wish;
      this.asker = asker;
      this.sinceMillis = sinceMillis;
    }

    boolean isTooLate(long latestMillis) {
      return asker != null && sinceMillis < latestMillis;
    }

    /// What goes wrong for one must not take its neighbours' answers away.
    private static Runnable taskOf(Asker who, Function<Asker, Runnable> word) {
      try {
        return word.apply(who);
      } catch (RuntimeException | Error bug) {
        LOG.error("event=answer_error", bug);
        return who.tooLate();
      }
    }

    /// The first word counts: where something breaks while answers are handed back, nobody can say who has got his.
    void tell(HandOver handOver, Function<Asker, Runnable> word) {
      var who = asker;
      if (who != null) {
        var task = taskOf(who, word);
        handOver.add(
            who.loop(),
            () -> {
              if (!told) {
                told = true;
                task.run();
              }
            });
      }
    }
  }

  /// @param most in line
  /// @param patience whoever has stood in line for longer, and waits for an answer, is not asked for any more
  /// @param sender runs what blocks, one after the other; may let a little time pass in between, for neighbours to come
  /// @param untold hears of orders for whose answer nobody waits, and which nobody knows to have been carried out
  OrderLine(
      Directory directory,
      DirectoryHealth health,
      DirectoryMetrics metrics,
      MeterRegistry meters,
      InstantSource clock,
      int most,
      Duration patience,
      Executor sender,
      Consumer<Order> untold) {
    this.directory = directory;
    this.health = health;
    this.metrics = metrics;
    this.clock = clock;
    this.most = most;
    this.patience = patience;
    this.sender = sender;
    this.untold = untold;
    Gauge.builder("cm.session.registrations.waiting", waiting, AtomicInteger::get).register(meters);
  }

  int waiting() {
    return waiting.get();
  }

  /// @return false when too many are in line
  boolean add(Order order, @Nullable Asker asker) {
    return add(() -> order, asker);
  }

  /// @param order asked for once, when its turn has come, on another thread; not when its asker is too late
  /// @return false when too many are in line: it is not asked for
  boolean add(Supplier<Order> order, @Nullable Asker asker) {
    if (waiting.incrementAndGet() > most) {
      waiting.decrementAndGet();
      metrics.registrationsRefused.increment();
      if (full.compareAndSet(false, true)) {
        LOG.warn("event=registrations_full waiting={} allowed=cm.directory.waiting", most);
      }
      return false;
    }
    line.add(new Waiting(order, asker, clock.millis()));
    send();
    return true;
  }

  private void send() {
    if (!line.isEmpty() && underWay.compareAndSet(false, true)) {
      try {
        sender.execute(this::sendSome);
      } catch (RuntimeException | Error refused) {
        underWay.set(false);
        throw refused;
      }
    }
  }

  private void sendSome() {
    try {
      carryOut(take());
    } finally {
      underWay.set(false);
      send();
    }
  }

  /// With room for all of them beforehand: who has left the line must not get lost for lack of memory.
  private List<Waiting> take() {
    var some = new ArrayList<Waiting>(MOST_TOGETHER);
    while (some.size() < MOST_TOGETHER) {
      var next = line.poll();
      if (next == null) {
        break;
      }
      some.add(next);
    }
    return some;
  }

  private void carryOut(List<Waiting> some) {
    try {
      var travelling = inTime(some);
      if (!hasHandedBack(travelling)) {
        comeToNothing(some);
      }
    } catch (RuntimeException | Error bug) {
      metrics.directoryFailures.increment();
      LOG.error("event=registration_error orders={}", some.size(), bug);
      comeToNothing(some);
    } finally {
      if (waiting.addAndGet(-some.size()) == 0 && full.compareAndSet(true, false)) {
        LOG.info("event=registrations_flow_again");
      }
    }
  }

  /// Those who travel. Whoever is too late is told so.
  private List<Waiting> inTime(List<Waiting> some) {
    long latest = clock.millis() - patience.toMillis();
    var travelling = new ArrayList<Waiting>(some.size());
    var handOver = new HandOver();
    for (var each : some) {
      if (each.isTooLate(latest)) {
        each.tell(handOver, Asker::tooLate);
        continue;
      }
      try {
        each.order = each.wish.get();
        travelling.add(each);
      } catch (RuntimeException | Error bug) {
        metrics.directoryFailures.increment();
        LOG.error("event=order_error", bug);
        each.tell(handOver, NO_ANSWER);
      }
    }
    handOver.go();
    return travelling;
  }

  /// @return false when the directory is away; nobody knows then what became of them
  private boolean hasHandedBack(List<Waiting> some) {
    if (!health.isReachable()) {
      metrics.ordersUntold.increment(some.size());
      return false;
    }
    try {
      handBack(some);
      return true;
    } catch (DirectoryUnavailable away) {
      health.failed(away);
      return false;
    }
  }

  /// Nobody knows what became of them. What is given back goes first: who hears that he has no answer may be here again, and the end of
  /// his last connection is forgotten then.
  private void comeToNothing(List<Waiting> some) {
    try {
      giveBack(some);
    } finally {
      handBackNothing(some);
    }
  }

  private void giveBack(List<Waiting> some) {
    for (var each : some) {
      var order = each.order;
      if (each.asker == null && order != null) {
        untold.accept(order);
      }
    }
  }

  private void handBack(List<Waiting> some) {
    if (some.isEmpty()) {
      return;
    }
    var answers = ask(some);
    var handOver = new HandOver();
    for (int index = 0; index < some.size(); index++) {
      var answer = Optional.of(answers.get(index));
      some.get(index).tell(handOver, asker -> asker.answered().apply(answer));
    }
    handOver.go();
  }

  private static void handBackNothing(List<Waiting> some) {
    var handOver = new HandOver();
    for (var each : some) {
      each.tell(handOver, NO_ANSWER);
    }
    handOver.go();
  }

  private List<Answer> ask(List<Waiting> some) {
    var answers =
        directory.carryOut(some.stream().map(each -> requireNonNull(each.order)).toList());
    metrics.registrations.record(some.size());
    int failed = 0;
    var why = "";
    for (var answer : answers) {
      if (answer instanceof Answer.Failed(var reason)) {
        failed++;
        why = reason;
      }
    }
    if (failed == some.size()) {
      throw new DirectoryUnavailable("Redis carries nothing out: " + why, null);
    }
    metrics.directoryFailures.increment(failed);
    if (failed > 0 && !complained) {
      LOG.warn("event=registration_failed of={} orders={} reason=\"{}\"", some.size(), failed, why);
    }
    complained = failed > 0;
    return answers;
  }
}
