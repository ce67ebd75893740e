package io.pushplanet.cm.directory;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Arrivals.Arrival;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Former;
import io.pushplanet.cm.directory.Directory.Order;
import io.pushplanet.cm.directory.Directory.Remembered;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import io.pushplanet.common.session.TakeoverNotices.Denial;
import io.pushplanet.common.session.TakeoverNotices.Handover;
import io.pushplanet.common.session.TakeoverNotices.Notice;
import io.pushplanet.common.session.TakeoverNotices.Word;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Tells the directory who is here, and learns who is not any more ([why so](RATIONALE.md)). Thread-safe; callers never wait
/// (but for [#stoodStill]): what connecting and leaving devices have to tell travels together ([OrderLine]), at most
/// [DirectorySettings#waiting] in line.
///
/// That a device is elsewhere is learnt from the other node's claim ([#takenOver], within milliseconds), from a gateway's frame
/// that carries a newer epoch ([#doubt]), after this process stood still ([#stoodStill], before it acts), after the directory was away or
/// has lost what it knew ([#away], [#lapsed]), and at the latest when its turn in the [Comparison] comes, once in [DirectorySettings#verifyEvery].
///
/// While the directory is away sessions live on, new ones under a provisional epoch of the same form (the clock's
/// milliseconds); when it is back they are announced and their inbox is drained.
public final class Registrar implements Doubts, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);
  private static final int MOST_DOUBTED = 10_000;
  // Between two looks at whose turn it is.
  private static final int MOST_TOLD_LATE = 2_000;

  private final Directory directory;
  private final NodeId node;
  private final SessionTable table;
  private final DirectoryMetrics metrics;
  private final InstantSource clock;
  private final Executor workers;
  private final DirectoryHealth health;
  private final OrderLine orders;
  private final Patrol patrol;
  private final Comparison comparison;
  private final Arrivals arrivals;
  private final Untold untold = new Untold();
  private final Askers askers = new Askers();
  private final int mostInLine;
  private final Set<DeviceSession> changed = ConcurrentHashMap.newKeySet();
  // In the order in which they came, so that a simulated life can be lived again.
  private final Set<DeviceSession> doubted = Collections.synchronizedSet(new LinkedHashSet<>());
  private final AtomicBoolean lookingAtDoubted = new AtomicBoolean();
  private final CountDownLatch closed = new CountDownLatch(1);

  /// Runs something once, later, on any thread.
  @FunctionalInterface
  public interface Timer {
    void after(Duration delay, Runnable task);
  }

  /// What waits for devices, as far as the registrar asks.
  @FunctionalInterface
  public interface Parked {
    /// Those of the devices that have something; empty while nobody can say. Blocks.
    Optional<Collection<DeviceKey>> among(List<DeviceKey> devices);
  }

  /// What a claim came to.
  public sealed interface Claim {
    /// @param epoch under which this node owns the device
    /// @param remembered the persistent session that can be resumed
    record Taken(long epoch, Optional<Remembered> remembered) implements Claim {}

    /// The device was deleted since it was given its password.
    record Denied() implements Claim {}

    /// It stood in line for too long; nothing was asked.
    record TooLate() implements Claim {}
  }

  /// @param workers run what blocks
  /// @param sender runs the round trips of connecting and leaving devices, one after the other
  public Registrar(
      Directory directory,
      NodeId node,
      SessionTable table,
      Parked parked,
      MeterRegistry meters,
      InstantSource clock,
      DirectorySettings settings,
      Executor workers,
      Executor sender,
      Timer timer) {
    this.directory = directory;
    this.node = node;
    this.table = table;
    this.metrics = new DirectoryMetrics(meters);
    this.clock = clock;
    this.workers = workers;
    this.health = new DirectoryHealth(metrics, meters);
    this.orders =
        new OrderLine(
            directory,
            health,
            metrics,
            meters,
            clock,
            settings.waiting(),
            settings.claimWithin(),
            sender,
            untold::keep);
    this.mostInLine = settings.waiting();
    this.arrivals = new Arrivals(settings.formerWithin(), timer, metrics.takeoversUnanswered);
    this.patrol = new Patrol(table, parked, workers);
    this.comparison =
        new Comparison(directory, health, node, table, arrivals, patrol, metrics, clock, settings);
  }

  /// Whether the directory answered last time.
  public boolean isReachable() {
    return health.isReachable();
  }

  /// Devices that were claimed and are not in the table yet.
  public int arriving() {
    return arrivals.size();
  }

  /// Takes the device over for this node. `then` runs on the loop; what it is given must end in [#arrived] or [#abandon].
  ///
  /// @param passwordEnds in this second of the epoch
  /// @return false when too many are in line
  public boolean claim(
      DeviceKey device, Former former, long passwordEnds, Loop loop, Consumer<Claim> then) {
    arrivals.setOut(device);
    var asker =
        new OrderLine.Asker(
            loop,
            answer -> answered(device, former, passwordEnds, answer, loop, then),
            () -> {
              arrived(device, 0);
              then.accept(new Claim.TooLate());
            });
    boolean inLine = orders.add(new Order.Claim(device, former, passwordEnds), asker);
    if (!inLine) {
      arrived(device, 0);
    }
    return inLine;
  }

  /// @return what is left to do on the loop
  private Runnable answered(
      DeviceKey device,
      Former wish,
      long passwordEnds,
      Optional<Answer> answer,
      Loop loop,
      Consumer<Claim> then) {
    if (answer.isEmpty() || !(answer.get() instanceof Answer.Claimed claimed)) {
      boolean denied = answer.isPresent() && answer.get() instanceof Answer.Denied;
      return denied ? () -> refused(device, then) : () -> presumed(device, then);
    }
    var elsewhere = claimed.former().filter(owner -> !owner.node().equals(node));
    elsewhere.ifPresent(_ -> metrics.takeovers.increment());
    var heir = arrivals.claimed(device, claimed.epoch(), elsewhere.filter(_ -> claimed.heard()));
    return () -> {
      untold.forget(device);
      // They hear of this claim before they hear this, and go no further.
      letGo(device, askers.takeOlder(device, claimed.epoch()), "");
      heir.ifPresentOrElse(
          waiting ->
              arrivals.await(
                  device,
                  waiting,
                  left -> {
                    var remembered = inherited(device, wish, passwordEnds, claimed, left);
                    loop.execute(() -> then.accept(new Claim.Taken(claimed.epoch(), remembered)));
                  }),
          () -> then.accept(new Claim.Taken(claimed.epoch(), claimed.remembered())));
    };
  }

  private void refused(DeviceKey device, Consumer<Claim> then) {
    arrived(device, 0);
    then.accept(new Claim.Denied());
  }

  /// The directory is away: this node takes the device without it.
  private void presumed(DeviceKey device, Consumer<Claim> then) {
    untold.forget(device);
    var held = table.find(device);
    long now = clock.millis();
    long epoch = arrivals.presume(device, held == null ? now : Math.max(now, held.epoch() + 1));
    then.accept(new Claim.Taken(epoch, Optional.empty()));
  }

  /// What the directory remembers, or else the former node.
  private Optional<Remembered> inherited(
      DeviceKey device,
      Former wish,
      long passwordEnds,
      Answer.Claimed claimed,
      Optional<Remembered> left) {
    if (wish == Former.FORGET || claimed.remembered().isPresent()) {
      return claimed.remembered();
    }
    if (wish == Former.RESUME) {
      left.map(Remembered::subscription)
          .ifPresent(held -> tell(new Order.Remember(device, claimed.epoch(), held, passwordEnds)));
    }
    return left;
  }

  /// What other processes say of our devices.
  public void hear(Word told) {
    switch (told) {
      case Notice notice -> takenOver(notice);
      case Bequest bequest -> left(bequest);
      case Denial denial -> denied(denial);
      case Handover handover -> handedOver(handover);
    }
  }

  /// The node that had a device which is arriving here says how its session was.
  public void left(Bequest told) {
    arrivals.left(told);
  }

  /// The claimed connection has its session in the table, or has come to nothing.
  ///
  /// @return whether it is still this connection's: false when another one was heard to have claimed the device since
  public boolean arrived(DeviceKey device, long epoch) {
    var arrival = arrivals.arrived(device, epoch);
    var session = table.find(device);
    if (session == null && !arrivals.isArriving(device)) {
      letGo(device, askers.take(device), "");
    }
    if (session != null && arrival == Arrival.PRESUMED) {
      // The directory may be back, and all others may have been compared with it.
      doubt(session);
    }
    return arrival != Arrival.OUTRUN;
  }

  /// The connection for which a device was claimed is gone. The session that it took up lives on as it was, for as long as the device wished this time.
  public void abandon(DeviceKey device, Claim.Taken claim, long expirySeconds, long passwordEnds) {
    arrivals.arrived(device, claim.epoch());
    outrun(device, claim, expirySeconds, passwordEnds);
  }

  /// The claimed connection has [#arrived], and another one was claimed since. As [#abandon].
  public void outrun(DeviceKey device, Claim.Taken claim, long expirySeconds, long passwordEnds) {
    if (table.find(device) != null) {
      return;
    }
    var held = claim.remembered().filter(_ -> expirySeconds > 0);
    tell(
        held.<Order>map(session ->
                new Order.End(
                    device, claim.epoch(), expirySeconds, session.subscription(), passwordEnds))
            .orElseGet(() -> new Order.Release(device, claim.epoch())));
    if (!arrivals.isArriving(device)) {
      letGo(
          device,
          askers.take(device),
          held.map(session -> Remembered.text(session.subscription())).orElse(""));
    }
  }

  /// Nothing of the device is here any more: whoever has claimed it may go on. One that does not hear it for want of room goes on a little later.
  private void letGo(DeviceKey device, List<SessionOwner> heirs, String session) {
    for (var heir : heirs) {
      if (health.isReachable() && orders.waiting() < mostInLine / 2) {
        orders.add(new Order.LetGo(device, heir, session), null);
      }
    }
  }

  /// The subscription of a session changed. One that ends with its connection is known to nobody. However often it changes, one
  /// order stands in line, and says what is true when its turn comes.
  public void remember(DeviceSession session) {
    if (session.terms().isPersistent()
        && !session.isPresumed()
        && changed.add(session)
        && !tell(() -> changed(session))) {
      changed.remove(session);
    }
  }

  private Order changed(DeviceSession session) {
    // First: what changes from here on is told anew.
    changed.remove(session);
    var subscription = session.subscription();
    return subscription == null
        ? new Order.Forget(session.key(), session.epoch(), session.passwordEnds())
        : new Order.Remember(session.key(), session.epoch(), subscription, session.passwordEnds());
  }

  /// The device says something of its own accord: it is here. What the directory knows by this node's word only is true then.
  public void heard(DeviceSession session) {
    if (session.isPresumed() && comparison.hearsAfterAnnouncing()) {
      session.prove();
      remember(session);
    }
  }

  /// The device went. `expirySeconds` as it wished at last. A session without a subscription is kept only for a device that has
  /// shown to know of it: who has not heard `session present = 0` still believes in the subscription that Redis has lost. One
  /// that is presumed ends here, for it may have ended, or gone on, elsewhere.
  public void release(DeviceSession session, long expirySeconds) {
    var left = session.subscription();
    boolean known = !session.isPresumed() && (left != null || session.isHeard());
    long seconds = known ? expirySeconds : 0;
    tell(new Order.End(session.key(), session.epoch(), seconds, left, session.passwordEnds()));
    letGo(session.key(), askers.take(session.key()), seconds > 0 ? Remembered.text(left) : "");
  }

  /// An end that cannot be told now is told later. A subscription is not: its session is compared, and remembered again once the device has said something.
  private void tell(Order order) {
    if (!tell(() -> order)) {
      untold.keep(order);
    }
  }

  /// Half of the line stays free for those who connect.
  private void tellUntold() {
    int room = mostInLine / 2 - orders.waiting();
    if (room > 0 && health.isReachable()) {
      untold.take(Math.min(room, MOST_TOLD_LATE)).forEach(this::tell);
    }
  }

  private boolean tell(Supplier<Order> order) {
    boolean inLine = health.isReachable() && orders.add(order, null);
    if (!inLine) {
      metrics.ordersUntold.increment();
    }
    return inLine;
  }

  /// Another node says that it has one of our devices, and waits to hear that we have let it go. Whoever is here says so at its end, and so does who is about to be, unless it was claimed later.
  public void takenOver(Notice notice) {
    var device = notice.device();
    askers.ask(device, notice.owner());
    // In this order, as in [#absent].
    boolean mayArrive = arrivals.takenOver(device, notice.owner().epoch());
    var session = table.find(device);
    if (session == null && !mayArrive) {
      letGo(device, askers.take(device), "");
    } else if (session != null
        && !(comparison.judge(session, notice.owner()) instanceof Fencing.Tenure.Lost)) {
      // Its epoch is newer than that claim, and the directory does not know it.
      askers.take(device);
      doubt(session);
    }
  }

  /// One of our devices was deleted. Whoever has come by a password that it was given since stays; the directory has forgotten him, too,
  /// and hears of him at once. Who is arriving comes again, and is asked anew.
  public void denied(Denial told) {
    arrivals.takenOver(told.device(), told.epoch());
    var session = table.find(told.device());
    if (session == null) {
      return;
    }
    if (session.passwordEnds() <= told.ends()) {
      session.deny();
    } else {
      doubt(session);
    }
  }

  /// One of our devices has another user. Who is arriving comes again. A session that was claimed since has begun anew already.
  public void handedOver(Handover told) {
    arrivals.takenOver(told.device(), told.epoch());
    var session = table.find(told.device());
    if (session != null && session.epoch() <= told.epoch()) {
      session.handOver();
    }
  }

  @Override
  public void doubt(DeviceSession session) {
    metrics.doubted.increment();
    if (health.isReachable() && doubted.size() < MOST_DOUBTED) {
      doubted.add(session);
      lookAtDoubted();
    }
  }

  /// The end of its connection here was never told, or came to nothing. Whoever has been in the directory with this epoch was arriving before it was: in this order, or one
  /// that comes into the table in between would be taken for one that has left it.
  @Override
  public void absent(DeviceKey device, long epoch) {
    if (!arrivals.isArriving(device) && table.find(device) == null) {
      untold.keep(new Order.Release(device, epoch));
    }
  }

  /// All that came together, at once.
  private void lookAtDoubted() {
    if (!doubted.isEmpty() && lookingAtDoubted.compareAndSet(false, true)) {
      workers.execute(() -> {
        var some = List.copyOf(doubted);
        some.forEach(doubted::remove);
        try {
          comparison.some(some);
        } finally {
          lookingAtDoubted.set(false);
        }
        lookAtDoubted();
      });
    }
  }

  /// Runs `then` on a worker, unless another node has the device. While the directory is away it has not.
  public void unlessElsewhere(DeviceKey device, Runnable then) {
    workers.execute(() -> {
      try {
        // Its own entry may not have been released yet.
        if (directory.owners(List.of(device)).values().stream()
            .anyMatch(owner -> !owner.node().equals(node))) {
          return;
        }
      } catch (DirectoryUnavailable away) {
        health.failed(away);
      }
      then.run();
    });
  }

  /// Notices may have been missed: looks now rather than when their turn comes.
  public void doubtAll() {
    workers.execute(comparison::allAndDenied);
  }

  /// The directory does not answer somebody else in this process. Once it does, everything is compared.
  public void away(RuntimeException why) {
    health.failed(why);
  }

  /// For a time nobody could have told this node anything, and gateways may have given it up: compares everything, and looks
  /// into every inbox.
  public void lapsed() {
    workers.execute(() -> {
      if (comparison.all()) {
        comparison.lookIntoAll();
      }
    });
  }

  /// A loop stood still (its process was stopped, paused, starved) and calls this before it reads on. Compares the sessions of that loop
  /// with the directory, so that nothing is delivered or acknowledged under an epoch that was lost meanwhile: for as long as that takes,
  /// or until a call to the directory fails, which each does at its deadline. Without it, this node goes on as it does without Redis.
  ///
  /// @param nanoTime the loop's clock
  /// @return the reading of it when the last answer came
  public long stoodStill(Loop loop, Duration gap, LongSupplier nanoTime) {
    metrics.standstills.increment();
    LOG.warn("event=stood_still millis={} sessions={}", gap.toMillis(), table.size());
    try {
      long answeredNanos = comparison.allOf(loop, nanoTime);
      workers.execute(() -> comparison.lookIntoAllOf(loop));
      return answeredNanos;
    } catch (DirectoryUnavailable away) {
      health.failed(away);
    } catch (RuntimeException | Error bug) {
      LOG.error("event=comparison_error", bug);
    }
    LOG.warn("event=standstill_unverified");
    return nanoTime.getAsLong();
  }

  /// Compares sessions with the directory, a few at a time, until [#close].
  public void start() {
    Thread.ofVirtual()
        .name("cm-compare")
        .start(() -> {
          for (var pause = pause(); !isClosedBefore(pause); pause = pause()) {
            compareNext(pause);
          }
        });
  }

  /// How long to wait before [#compareNext].
  public Duration pause() {
    return comparison.pause(!untold.isEmpty());
  }

  /// Those sessions whose turn it is, or all when the directory was away. For one thread.
  ///
  /// @param pause that has been waited for: what came to be told meanwhile makes the next one shorter, not this one
  public void compareNext(Duration pause) {
    try {
      patrol.catchUp();
      comparison.next(pause);
      tellUntold();
    } catch (RuntimeException | Error bug) {
      LOG.error("event=comparison_error", bug);
    }
  }

  /// Ends early when the directory goes away: until it is known to be back, devices are told that they have no session.
  private boolean isClosedBefore(Duration length) {
    long end = System.nanoTime() + length.toNanos();
    long slice = Comparison.PAUSE_WHILE_AWAY.toNanos();
    try {
      for (long left = length.toNanos(); left > 0; left = end - System.nanoTime()) {
        if (closed.await(Math.min(left, slice), TimeUnit.NANOSECONDS)) {
          return true;
        }
        if (!health.isReachable()) {
          return false;
        }
      }
      return false;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  private boolean hasToTell() {
    return orders.waiting() > 0 || (health.isReachable() && !untold.isEmpty());
  }

  /// Waits at most five seconds for ends on their way, and for those that found no place in line when all devices left at once.
  @Override
  public void close() {
    closed.countDown();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    try {
      while (hasToTell() && System.nanoTime() < deadline) {
        tellUntold();
        TimeUnit.MILLISECONDS.sleep(10);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
