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

/// The directory of a node that is alone: each claim has a higher epoch than all before it, and nobody owns a device elsewhere. What is
/// denied is said to it.
final class Epochs implements Directory {
  private final AtomicLong last = new AtomicLong();
  private List<Order> lastAsked = List.of();
  private long deniedUntil;

  void deny(long ends) {
    deniedUntil = ends;
  }

  /// What travelled together at last.
  List<Order> lastOrders() {
    return lastAsked;
  }

  @Override
  public List<Answer> carryOut(List<Order> orders) {
    lastAsked = orders;
    return orders.stream().map(this::answer).toList();
  }

  private Answer answer(Order order) {
    return order instanceof Order.Claim claim && claim.passwordEnds() <= deniedUntil
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
