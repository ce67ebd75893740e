package io.pushplanet.cm.simulator;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.Fencing;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes.Outcome;
import io.pushplanet.common.wire.NodeOutcomes.Result;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Does what gateway-worker does with a message for one device: it looks the device up, sends a
/// frame and gets the outcome; otherwise it parks the message, looks again and has the inbox
/// drained. It may stop at every step and start over, as after a worker that is killed before it
/// has acknowledged.
final class SimGateway {
  private static final int LATE_MILLIS = 500;

  private final World world;
  private final Cluster cluster;
  private final Stores stores;
  private final Set<Bug> bugs;
  private final Map<SimNode, Long> lastArrival = new HashMap<>();
  private long frames;

  SimGateway(World world, Cluster cluster, Set<Bug> bugs) {
    this.world = world;
    this.cluster = cluster;
    this.stores = cluster.stores;
    this.bugs = bugs;
  }

  void send(DeviceKey device, MessageId message) {
    cluster.ledger.accepted(device, message);
    world.after(0, 5, () -> lookUp(device, message));
  }

  private void again(DeviceKey device, MessageId message) {
    world.after(500, 2_000, () -> lookUp(device, message));
  }

  private boolean crashes() {
    return world.chance(cluster.healed() ? 0 : 0.02);
  }

  private void lookUp(DeviceKey device, MessageId message) {
    if (stores.redisAway || crashes()) {
      again(device, message);
      return;
    }
    var owner = stores.owners.get(device);
    if (owner == null || !stores.isAlive(owner.node())) {
      world.after(0, 30, () -> park(device, message));
      return;
    }
    world.after(0, 10, () -> frame(device, message, owner));
  }

  /// One frame with one target.
  private final class Sent {
    private final DeviceKey device;
    private final MessageId message;
    private final SessionOwner owner;
    private boolean ended;

    Sent(DeviceKey device, MessageId message, SessionOwner owner) {
      this.device = device;
      this.message = message;
      this.owner = owner;
    }

    private void answered(Outcome outcome) {
      if (ended || world.chance(cluster.healed() ? 0 : 0.02)) {
        return;
      }
      ended = true;
      if (outcome.result() == Result.DELIVERED && Fencing.settles(owner.epoch(), outcome.epoch())) {
        cluster.ledger.settled(device, message);
      } else {
        park(device, message);
      }
    }

    private void unanswered() {
      if (!ended) {
        ended = true;
        park(device, message);
      }
    }
  }

  private void frame(DeviceKey device, MessageId message, SessionOwner owner) {
    var sent = new Sent(device, message, owner);
    long number = ++frames;
    long patience = 1_000 + world.below(9_000);
    world.after(patience + LATE_MILLIS, patience + LATE_MILLIS, sent::unanswered);
    var node = cluster.node(owner.node());
    if (node == null) {
      world.after(0, 100, sent::unanswered);
      return;
    }
    var expires = Instant.ofEpochMilli(world.nowMillis()).plusSeconds(3_600);
    Long epoch = bugs.contains(Bug.NO_FENCING) ? null : Long.valueOf(owner.epoch());
    var frame =
        new NodeFrame(
            Long.toString(number),
            Instant.ofEpochMilli(world.nowMillis() + patience),
            List.of(new NodeFrame.Message(message, expires, message.value() + "/frame/" + number)),
            List.of(new NodeFrame.Target(device.app(), device.device(), 0, epoch)));
    long arrival =
        Math.max(lastArrival.getOrDefault(node, 0L), world.nowMicros() + world.below(5_000));
    lastArrival.put(node, arrival);
    world.at(
        arrival,
        () -> {
          if (node.alive) {
            node.frame(frame, (_, outcome) -> world.after(0, 10, () -> sent.answered(outcome)));
          }
        });
  }

  private void park(DeviceKey device, MessageId message) {
    if (stores.mysqlAway || crashes()) {
      again(device, message);
      return;
    }
    stores.park(device, message, message.value(), world.nowMillis() + 3_600_000);
    if (!bugs.contains(Bug.NO_LOOK_AFTER_PARKING)) {
      world.after(0, 10, () -> drainIfConnected(device, message));
    }
  }

  private void drainIfConnected(DeviceKey device, MessageId message) {
    if (stores.redisAway || crashes()) {
      again(device, message);
      return;
    }
    var owner = stores.owners.get(device);
    if (owner == null || !stores.isAlive(owner.node())) {
      return;
    }
    var node = cluster.node(owner.node());
    if (node != null && !node.frozen && !world.chance(0.05)) {
      world.after(0, 10, () -> node.drain(device));
    }
  }
}
