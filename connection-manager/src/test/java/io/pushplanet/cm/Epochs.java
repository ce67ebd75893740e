package io.pushplanet.cm;

import io.pushplanet.cm.directory.Directory;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/// The directory of a single node: each claim gets a higher epoch than all before it, and no other
/// node owns a device. The test says which passwords are denied.
final class Epochs implements Directory {
  private final AtomicLong last = new AtomicLong();
  private List<Command> lastCommands = List.of();
  private long deniedUntil;

  void deny(long ends) {
    deniedUntil = ends;
  }

  /// The commands of the last round trip.
  List<Command> lastCommands() {
    return lastCommands;
  }

  @Override
  public List<Answer> execute(List<Command> commands) {
    lastCommands = commands;
    return commands.stream().map(this::answer).toList();
  }

  private Answer answer(Command command) {
    return command instanceof Command.Claim claim && claim.passwordEnds() <= deniedUntil
        ? new Answer.Denied()
        : new Answer.Claimed(last.incrementAndGet(), Optional.empty(), false, Optional.empty());
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
