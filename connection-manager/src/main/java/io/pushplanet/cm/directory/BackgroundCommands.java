package io.pushplanet.cm.directory;

import io.pushplanet.cm.directory.Directory.Command;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.Subscription;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/// Commands whose answers no device waits for: subscriptions to remember, and sessions that have
/// ended. Thread-safe; callers never wait.
final class BackgroundCommands {
  /// Pending releases that are sent at once at most.
  private static final int MAX_RELEASES_PER_ROUND = 2_000;

  private final CommandPipeline commands;
  private final PendingReleases pendingReleases;
  private final DirectoryHealth health;
  private final DirectoryMetrics metrics;
  private final int mostWaiting;
  private final Set<DeviceSession> changed = ConcurrentHashMap.newKeySet();

  /// @param mostWaiting pending releases are sent while fewer commands wait in the pipeline
  BackgroundCommands(
      CommandPipeline commands,
      PendingReleases pendingReleases,
      DirectoryHealth health,
      DirectoryMetrics metrics,
      int mostWaiting) {
    this.commands = commands;
    this.pendingReleases = pendingReleases;
    this.health = health;
    this.metrics = metrics;
    this.mostWaiting = mostWaiting;
  }

  /// However often the subscription changes, one command waits, and it carries the subscription as
  /// it is when the command is sent.
  void remember(DeviceSession session) {
    if (changed.add(session) && !tryQueue(() -> subscriptionOf(session))) {
      changed.remove(session);
    }
  }

  private Command subscriptionOf(DeviceSession session) {
    // First: a change from here on queues another command.
    changed.remove(session);
    Subscription subscription = session.subscription();
    return subscription == null
        ? new Command.Forget(session.key(), session.epoch(), session.passwordEnds())
        : new Command.Remember(
            session.key(), session.epoch(), subscription, session.passwordEnds());
  }

  /// A release that cannot be sent now is sent later. A subscription is not: its session is
  /// compared with the directory, and remembered again once the device has sent something.
  void send(Command command) {
    if (!tryQueue(() -> command)) {
      pendingReleases.keep(command);
    }
  }

  void sendPendingReleases() {
    int room = mostWaiting - commands.waiting();
    if (room > 0 && health.isReachable()) {
      pendingReleases.take(Math.min(room, MAX_RELEASES_PER_ROUND)).forEach(this::send);
    }
  }

  /// Whether commands wait that the directory can take.
  boolean hasToSend() {
    return commands.waiting() > 0 || (health.isReachable() && !pendingReleases.isEmpty());
  }

  private boolean tryQueue(Supplier<Command> command) {
    boolean queued = health.isReachable() && commands.add(command, null);
    if (!queued) {
      metrics.commandsUnsent.increment();
    }
    return queued;
  }
}
