package io.pushplanet.cm.directory;

import io.micrometer.core.instrument.MeterRegistry;
import io.pushplanet.cm.directory.Arrivals.Arrival;
import io.pushplanet.cm.directory.Directory.Answer;
import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionOwner;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Registers this node's devices in the directory, and ends their sessions when other nodes take
/// them over ([why so](RATIONALE.md)). Thread-safe; callers never wait, except for [#stoodStill]:
/// the commands of connecting and leaving devices travel to the directory together
/// ([CommandPipeline]), and at most [DirectorySettings#waiting] of them wait.
///
/// This node learns that another node owns a device:
/// - from the other node's claim, within milliseconds ([#hear]);
/// - from a gateway's frame that carries a newer epoch ([#doubt]);
/// - before it acts, after the process stood still ([#stoodStill]);
/// - after the directory was away or lost its data ([#away], [#lapsed]);
/// - at the latest when the session's turn in the [Reconciliation] comes, once in
///   [DirectorySettings#verifyEvery].
///
/// While the directory is away sessions continue, and new ones get a provisional epoch of the same
/// form (the clock's milliseconds). When it is back they are announced and their inboxes are
/// drained.
public final class Registrar implements OwnershipDoubts, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Registrar.class);

  /// Four times a usual window. Others are sent again without DUP.
  private static final int MAX_UNACKNOWLEDGED = 64;

  private final Directory directory;
  private final NodeId node;
  private final SessionTable table;
  private final DirectoryMetrics metrics;
  private final InstantSource clock;
  private final Executor workers;
  private final DirectoryHealth health;
  private final CommandPipeline commands;
  private final PendingReleases pendingReleases = new PendingReleases();
  private final BackgroundCommands background;
  private final PendingTakeovers pendingTakeovers;
  private final Arrivals arrivals;
  private final Reconciliation reconciliation;
  private final ReconciliationLoop comparing;
  private final DoubtedSessions doubted;
  private final NoticeHandler notices;

  /// Runs a task once, after a delay, on any thread.
  @FunctionalInterface
  public interface Timer {
    void after(Duration delay, Runnable task);
  }

  /// The messages that wait for devices, as far as the registrar asks about them.
  @FunctionalInterface
  public interface Parked {
    /// Those of the devices that have messages; empty while the database is away. Blocks.
    Optional<Collection<DeviceKey>> among(List<DeviceKey> devices);
  }

  /// The result of a claim.
  public sealed interface Claim {
    /// @param epoch under which this node owns the device
    /// @param remembered the persistent session that can be resumed
    record Taken(long epoch, Optional<RememberedSession> remembered) implements Claim {}

    /// The device was deleted after it was given its password.
    record Denied() implements Claim {}

    /// The claim waited in the queue for too long and was not sent.
    record TooLate() implements Claim {}
  }

  /// @param workers run blocking tasks
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
    this.commands =
        new CommandPipeline(
            directory,
            health,
            metrics,
            meters,
            clock,
            settings.waiting(),
            settings.claimWithin(),
            sender,
            pendingReleases::keep);
    // Half of the queue stays free for connecting devices.
    int mostInBackground = settings.waiting() / 2;
    this.background =
        new BackgroundCommands(commands, pendingReleases, health, metrics, mostInBackground);
    this.pendingTakeovers = new PendingTakeovers(commands, health, mostInBackground);
    this.arrivals = new Arrivals(settings.formerWithin(), timer, metrics.takeoversUnanswered);
    var patrol = new InboxPatrol(table, parked, workers);
    this.reconciliation =
        new Reconciliation(
            directory,
            health,
            node,
            table,
            arrivals,
            patrol,
            metrics,
            clock,
            settings,
            this::rememberAgain);
    this.comparing =
        new ReconciliationLoop(
            reconciliation, patrol, health, pendingReleases, background::sendPendingReleases);
    this.doubted = new DoubtedSessions(reconciliation, health, metrics, workers);
    this.notices = new NoticeHandler(table, arrivals, pendingTakeovers, reconciliation, doubted);
  }

  /// Whether the directory answered last time.
  public boolean isReachable() {
    return health.isReachable();
  }

  /// Devices that were claimed and are not in the table yet.
  public int arriving() {
    return arrivals.size();
  }

  /// Takes the device over for this node. `then` runs on the loop, and the claim that it receives
  /// must end in [#arrived] or [#abandon].
  ///
  /// @param passwordEnds in this second of the epoch
  /// @return false when too many commands wait
  public boolean claim(
      DeviceKey device, FormerSession former, long passwordEnds, Loop loop, Consumer<Claim> then) {
    var request = new Request(device, former, passwordEnds, loop, then);
    arrivals.setOut(device);
    var callback =
        new CommandPipeline.Callback(
            loop,
            answer -> answered(request, answer),
            () -> {
              failed(device);
              then.accept(new Claim.TooLate());
            });
    boolean waits = commands.add(new Command.Claim(device, former, passwordEnds), callback);
    if (!waits) {
      failed(device);
    }
    return waits;
  }

  private record Request(
      DeviceKey device, FormerSession former, long passwordEnds, Loop loop, Consumer<Claim> then) {}

  /// @return the task for the loop
  private Runnable answered(Request request, Optional<Answer> answer) {
    return switch (answer.orElse(null)) {
      case Answer.Claimed claimed -> taken(request, claimed);
      case Answer.Denied() -> () -> refused(request);
      case Answer.Done(), Answer.Failed(_) -> () -> presumed(request);
      case null -> () -> presumed(request);
    };
  }

  private Runnable taken(Request request, Answer.Claimed claimed) {
    DeviceKey device = request.device();
    Optional<SessionOwner> elsewhere = claimed.former().filter(owner -> !owner.node().equals(node));
    elsewhere.ifPresent(_ -> metrics.takeovers.increment());
    long answeredNanos = metrics.nowNanos();
    // Before the task, in the order of the directory's answers.
    Optional<Arrivals.WaitingClaim> claim =
        arrivals.claimed(device, claimed.epoch(), elsewhere.filter(_ -> claimed.heard()));
    return () -> {
      pendingReleases.forget(device);
      pendingTakeovers.confirmOlder(device, claimed.epoch());
      claim.ifPresentOrElse(
          waiting ->
              arrivals.await(
                  device,
                  waiting,
                  released -> {
                    metrics.takenOver(answeredNanos);
                    var taken =
                        new Claim.Taken(claimed.epoch(), inherited(request, claimed, released));
                    request.loop().execute(() -> request.then().accept(taken));
                  }),
          () -> request.then().accept(new Claim.Taken(claimed.epoch(), claimed.remembered())));
    };
  }

  private void refused(Request request) {
    failed(request.device());
    request.then().accept(new Claim.Denied());
  }

  /// The directory is away: this node takes the device without it.
  private void presumed(Request request) {
    DeviceKey device = request.device();
    pendingReleases.forget(device);
    DeviceSession held = table.find(device);
    long now = clock.millis();
    long epoch = arrivals.presume(device, held == null ? now : Math.max(now, held.epoch() + 1));
    request.then().accept(new Claim.Taken(epoch, Optional.empty()));
  }

  /// The session that the directory remembers, or else the one that the former owner described. The
  /// directory does not know what a connection that was taken over has sent.
  private Optional<RememberedSession> inherited(
      Request request, Answer.Claimed claimed, Optional<RememberedSession> released) {
    if (request.former() == FormerSession.FORGET || claimed.remembered().isPresent()) {
      List<MessageId> sent = released.map(RememberedSession::unacknowledged).orElse(List.of());
      return claimed.remembered().map(held -> held.with(sent));
    }
    if (request.former() == FormerSession.RESUME) {
      released
          .map(RememberedSession::subscription)
          .ifPresent(held ->
              background.send(
                  new Command.Remember(
                      request.device(), claimed.epoch(), held, request.passwordEnds())));
    }
    return released;
  }

  /// Applies what another process tells this node of one of its devices.
  public void hear(SessionNotice notice) {
    notices.handle(notice);
  }

  /// The claimed connection has its session in the table, or has failed.
  ///
  /// @return whether the device is still this connection's: false when another connection has
  ///     claimed it since
  public boolean arrived(DeviceKey device, long epoch) {
    Arrival arrival = arrivals.arrived(device, epoch);
    DeviceSession session = table.find(device);
    if (session == null && !arrivals.isArriving(device)) {
      pendingTakeovers.confirm(device, Optional.empty());
    }
    if (session != null && arrival == Arrival.PRESUMED) {
      // The directory may be back, and all other sessions may have been compared with it.
      doubt(session);
    }
    return arrival != Arrival.OUTRUN;
  }

  /// The claim has no epoch, and every epoch is above 0.
  private void failed(DeviceKey device) {
    arrived(device, 0);
  }

  /// The connection for which a device was claimed is gone. The session that it resumed stays
  /// remembered for as long as the device asked for this time.
  public void abandon(DeviceKey device, Claim.Taken claim, long expirySeconds, long passwordEnds) {
    arrivals.arrived(device, claim.epoch());
    outrun(device, claim, expirySeconds, passwordEnds);
  }

  /// As [#abandon], for a claimed connection that has [#arrived] after another claim of the device.
  public void outrun(DeviceKey device, Claim.Taken claim, long expirySeconds, long passwordEnds) {
    if (table.find(device) != null) {
      return;
    }
    Optional<RememberedSession> held = claim.remembered().filter(_ -> expirySeconds > 0);
    background.send(
        held.<Command>map(session ->
                new Command.End(
                    device,
                    claim.epoch(),
                    expirySeconds,
                    session.subscription(),
                    passwordEnds,
                    session.unacknowledged()))
            .orElseGet(() -> new Command.Release(device, claim.epoch())));
    if (!arrivals.isArriving(device)) {
      pendingTakeovers.confirm(device, held);
    }
  }

  /// The subscription of a session changed. The directory does not learn of a session that ends
  /// with its connection.
  public void remember(DeviceSession session) {
    if (session.terms().isPersistent() && !session.isPresumed()) {
      background.remember(session);
    }
  }

  /// On the session's loop: its end, too, is told from there, and must be the last word.
  private void rememberAgain(DeviceSession session) {
    if (!session.isGone() && !session.isLost() && session.subscription() != null) {
      remember(session);
    }
  }

  /// The device sent a packet that is no answer, so it is here, and a presumed session is proven.
  public void heard(DeviceSession session) {
    if (session.isPresumed() && reconciliation.hearsAfterAnnouncing()) {
      session.prove();
      remember(session);
    }
  }

  /// The device left. A session without a subscription is kept only for a device that is known to
  /// have read its CONNACK: a device that has not read `session present = 0` still believes in the
  /// subscription that Redis has lost. A presumed session is not kept, because it may have ended or
  /// continued on another node.
  ///
  /// @param expirySeconds as the device asked for last
  /// @param unacknowledged messages that the device may have received
  public void release(DeviceSession session, long expirySeconds, List<MessageId> unacknowledged) {
    Subscription left = session.subscription();
    boolean known = !session.isPresumed() && (left != null || session.isHeard());
    long seconds = known ? expirySeconds : 0;
    List<MessageId> sent =
        left == null || seconds == 0
            ? List.of()
            : unacknowledged.subList(0, Math.min(unacknowledged.size(), MAX_UNACKNOWLEDGED));
    background.send(
        new Command.End(
            session.key(), session.epoch(), seconds, left, session.passwordEnds(), sent));
    pendingTakeovers.confirm(
        session.key(),
        seconds > 0
            ? Optional.of(new RememberedSession(left, session.epoch(), sent))
            : Optional.empty());
  }

  @Override
  public void doubt(DeviceSession session) {
    doubted.add(session);
  }

  /// The release of the device was never sent, or the claimed connection failed. [Arrivals] is
  /// asked before the table, because a connection enters the table before it leaves [Arrivals]: in
  /// the other order a connection that does so in between would be released.
  @Override
  public void absent(DeviceKey device, long epoch) {
    if (!arrivals.isArriving(device) && table.find(device) == null) {
      pendingReleases.keep(new Command.Release(device, epoch));
    }
  }

  /// Runs `then` on a worker unless another node owns the device, or when the directory is away.
  public void unlessElsewhere(DeviceKey device, Runnable then) {
    workers.execute(() -> {
      try {
        // This node's own entry may not have been released yet.
        if (directory.owners(List.of(device)).values().stream()
            .anyMatch(owner -> !owner.node().equals(node))) {
          return;
        }
      } catch (RedisUnavailable away) {
        health.failed(away);
      }
      then.run();
    });
  }

  /// Notices may have been missed: compares all sessions now rather than when their turn comes.
  public void compareAll() {
    workers.execute(reconciliation::allAndDenied);
  }

  /// Another part of this process got no answer from the directory. All sessions are compared once
  /// the directory answers.
  public void away(RuntimeException why) {
    health.failed(why);
  }

  /// For a time no notice could reach this node, and gateways may have given it up: compares all
  /// sessions and checks all inboxes.
  public void lapsed() {
    workers.execute(() -> {
      if (reconciliation.all()) {
        reconciliation.lookIntoAll();
      }
    });
  }

  /// A loop stood still (its process was stopped, paused or starved), and calls this before it
  /// reads on. Compares the sessions of that loop with the directory, so that nothing is delivered
  /// or acknowledged under an epoch that was lost meanwhile. Blocks until all are compared or until
  /// a call to the directory fails, which each call does at its deadline. When the directory is
  /// away, this node goes on as it does without Redis.
  ///
  /// @param nanoTime the loop's clock
  /// @return that clock's reading at the last answer
  public long stoodStill(Loop loop, Duration gap, LongSupplier nanoTime) {
    metrics.standstills.increment();
    LOG.warn("event=stood_still millis={} sessions={}", gap.toMillis(), table.size());
    try {
      long answeredNanos = reconciliation.allOf(loop, nanoTime);
      workers.execute(() -> reconciliation.lookIntoAllOf(loop));
      return answeredNanos;
    } catch (RedisUnavailable away) {
      health.failed(away);
    } catch (RuntimeException | Error bug) {
      LOG.error("event=comparison_error", bug);
    }
    LOG.warn("event=standstill_unverified");
    return nanoTime.getAsLong();
  }

  /// Compares sessions with the directory, a few at a time, until [#close].
  public void start() {
    comparing.start();
  }

  /// As [ReconciliationLoop#pause].
  public Duration pause() {
    return comparing.pause();
  }

  /// As [ReconciliationLoop#compareNext].
  public void compareNext(Duration pause) {
    comparing.compareNext(pause);
  }

  /// Waits at most five seconds for releases to be sent, also for those that found no room in the
  /// queue when all devices left together.
  @Override
  public void close() {
    comparing.stop();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    try {
      while (background.hasToSend() && System.nanoTime() < deadline) {
        background.sendPendingReleases();
        TimeUnit.MILLISECONDS.sleep(10);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
