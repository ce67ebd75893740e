package io.pushplanet.quickstart.platform;

import io.pushplanet.quickstart.process.ProcessFailed;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Watches the processes of a platform, and starts again what dies if [OnDeath] says so.
///
/// A look never waits until a process is ready: it asks each starting one once. So a server that
/// dies while a program waits for it is started as well, and the supervisor hears that it should
/// stop. A dead program starts when all servers are ready. Confined to one thread.
final class Upkeep {
  private final OnDeath onDeath;
  private final List<KeptProcess> servers;
  private final List<KeptProcess> programs;
  private final Progress progress;
  private List<KeptProcess.State> told = List.of();

  /// @param servers what the programs need
  Upkeep(
      OnDeath onDeath, List<KeptProcess> servers, List<KeptProcess> programs, Progress progress) {
    this.onDeath = onDeath;
    this.servers = List.copyOf(servers);
    this.programs = List.copyOf(programs);
    this.progress = progress;
  }

  /// Looks once at all processes.
  ///
  /// @return whether it has started one
  /// @throws ProcessFailed when the platform should end: a process has died under [OnDeath#STOP],
  ///     or has not become ready in [KeptProcess#MAX_STARTS] starts
  boolean look() {
    return look(programs);
  }

  /// Looks once at the servers, while others wait for the programs.
  ///
  /// @throws ProcessFailed as [#look()] does
  void lookAtServers() {
    look(List.of());
  }

  private boolean look(List<KeptProcess> users) {
    List<KeptProcess> watched = Stream.concat(servers.stream(), users.stream()).toList();
    watched.forEach(KeptProcess::look);
    if (onDeath == OnDeath.STOP) {
      endIfDead(watched);
    }
    List<KeptProcess> startable = servers.stream().allMatch(KeptProcess::isUp) ? users : servers;
    List<KeptProcess> dead = startable.stream().filter(KeptProcess::isDead).toList();
    dead.forEach(KeptProcess::start);
    tellWaits(watched);
    return !dead.isEmpty();
  }

  private static void endIfDead(List<KeptProcess> watched) {
    List<KeptProcess> dead = watched.stream().filter(KeptProcess::isDead).toList();
    if (!dead.isEmpty()) {
      throw new ProcessFailed(dead.getFirst().death());
    }
  }

  /// Says what is waited for, at each change.
  private void tellWaits(List<KeptProcess> watched) {
    List<KeptProcess.State> states = watched.stream().map(KeptProcess::state).toList();
    if (!states.equals(told) && !watched.stream().allMatch(KeptProcess::isUp)) {
      progress.tell(
          "waiting for "
              + watched.stream()
                  .filter(process -> !process.isUp())
                  .map(KeptProcess::awaited)
                  .collect(Collectors.joining(", ")));
    }
    told = states;
  }
}
