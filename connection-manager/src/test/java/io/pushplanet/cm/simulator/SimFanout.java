package io.pushplanet.cm.simulator;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Does what gateway-worker does with a message for many devices: it sends a frame to each node and
/// gathers the outcomes; it parks the message once for all other devices, looks for them again, and
/// has their inboxes drained. It may stop at every step and start over with all devices.
final class SimFanout {
  private static final int LATE_MILLIS = 500;

  private final World world;
  private final Cluster cluster;
  private final Stores stores;
  private final Set<Bug> bugs;
  private final Map<SimNode, Long> lastArrival = new HashMap<>();
  private long frames;

  SimFanout(World world, Cluster cluster, Set<Bug> bugs) {
    this.world = world;
    this.cluster = cluster;
    this.stores = cluster.stores;
    this.bugs = bugs;
  }

  void send(List<DeviceKey> devices, MessageId message) {
    devices.forEach(device -> cluster.ledger.accepted(device, message));
    world.after(0, 5, () -> new Round(devices, message).lookUp());
  }

  private boolean crashes() {
    return world.chance(cluster.healed() ? 0 : 0.02);
  }

  /// The work of one worker on the message, from taking it to acknowledging it.
  private final class Round {
    private final List<DeviceKey> devices;
    private final MessageId message;
    private final Set<DeviceKey> open;
    private final Set<DeviceKey> left = new LinkedHashSet<>();

    Round(List<DeviceKey> devices, MessageId message) {
      this.devices = devices;
      this.message = message;
      this.open = new HashSet<>(devices);
    }

    private void again() {
      world.after(500, 2_000, () -> new Round(devices, message).lookUp());
    }

    private void lookUp() {
      if (stores.redisAway || crashes()) {
        again();
        return;
      }
      Map<NodeId, Map<DeviceKey, Long>> byNode = new LinkedHashMap<>();
      for (var device : devices) {
        SessionOwner owner = stores.owners.get(device);
        if (owner == null || !stores.isAlive(owner.node())) {
          ended(device, false);
        } else {
          byNode
              .computeIfAbsent(owner.node(), _ -> new LinkedHashMap<>())
              .put(device, bugs.contains(Bug.NO_FENCING) ? 0 : owner.epoch());
        }
      }
      byNode.forEach((node, epochs) -> world.after(0, 10, () -> frame(node, epochs)));
    }

    private void frame(NodeId to, Map<DeviceKey, Long> epochs) {
      long number = ++frames;
      long patience = 1_000 + world.below(9_000);
      world.after(
          patience + LATE_MILLIS, patience + LATE_MILLIS, () -> unanswered(epochs.keySet()));
      var node = cluster.node(to);
      if (node == null) {
        world.after(0, 100, () -> unanswered(epochs.keySet()));
        return;
      }
      var targets = List.copyOf(epochs.keySet());
      var expires = Instant.ofEpochMilli(world.nowMillis()).plusSeconds(3_600);
      var frame =
          new NodeBroadcast(
              "b" + number,
              Instant.ofEpochMilli(world.nowMillis() + patience),
              new NodeFrame.Message(message, expires, message.value() + "/broadcast/" + number),
              targets.getFirst().app(),
              targets.stream().map(DeviceKey::device).toList(),
              targets.stream().map(epochs::get).toList());
      long arrival =
          Math.max(lastArrival.getOrDefault(node, 0L), world.nowMicros() + world.below(5_000));
      lastArrival.put(node, arrival);
      world.at(
          arrival,
          () -> {
            if (node.alive) {
              node.broadcast(
                  frame,
                  (_, outcome) ->
                      world.after(
                          0, 10, () -> answered(targets.get(outcome.target()), outcome.result())));
            }
          });
    }

    private void answered(DeviceKey device, Result result) {
      if (open.contains(device) && !crashes()) {
        ended(device, result == Result.DELIVERED);
      }
    }

    private void unanswered(Set<DeviceKey> some) {
      some.forEach(device -> ended(device, false));
    }

    private void ended(DeviceKey device, boolean delivered) {
      if (!open.remove(device)) {
        return;
      }
      if (delivered) {
        cluster.ledger.settled(device, message);
      } else {
        left.add(device);
      }
      if (open.isEmpty() && !left.isEmpty()) {
        world.after(0, 30, this::park);
      }
    }

    private void park() {
      if (stores.mysqlAway || crashes()) {
        again();
        return;
      }
      stores.shelf.park(left, message);
      if (!bugs.contains(Bug.NO_LOOK_AFTER_PARKING)) {
        world.after(0, 10, this::drainThoseConnected);
      }
    }

    private void drainThoseConnected() {
      if (stores.redisAway || crashes()) {
        again();
        return;
      }
      left.forEach(device -> drainIfConnected(device));
    }

    private void drainIfConnected(DeviceKey device) {
      var owner = stores.owners.get(device);
      var node = owner == null || !stores.isAlive(owner.node()) ? null : cluster.node(owner.node());
      if (node != null && !node.frozen && !world.chance(0.05)) {
        world.after(0, 10, () -> node.drain(device));
      }
    }
  }
}
