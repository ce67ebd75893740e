package io.pushplanet.cm.simulator;

import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.SubscriptionRequest;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// A device with a weak network: it loses connections with and without a DISCONNECT, connects to
/// any node while the old socket is still open, and acknowledges late or never. It checks the
/// packets that it receives.
final class SimDevice {
  private final World world;
  private final Cluster cluster;
  private final Ledger ledger;
  private final DeviceKey key;
  private Binary credential;
  // The password of before its deletion, until the device learns of that.
  private @Nullable Binary former;
  private final boolean persistent;
  // Different for each device, to find a subscription that another device gets.
  private final int subscription;
  private final List<Socket> sockets = new ArrayList<>();
  private @Nullable Socket current;
  private @Nullable Socket newest;
  private final Set<String> seen = new HashSet<>();
  // The device's view: it got a SUBACK, and no CONNACK without a session since.
  private boolean subscribed;
  private boolean calm;
  private boolean awayAtFirst;

  SimDevice(World world, Cluster cluster, DeviceKey key, String credential, int subscription) {
    this.world = world;
    this.cluster = cluster;
    this.ledger = cluster.ledger;
    this.key = key;
    this.credential = Binary.of(credential);
    this.persistent = world.chance(0.7);
    this.subscription = subscription;
    this.awayAtFirst = world.chance(0.2);
    if (awayAtFirst) {
      world.after(10_000, 25_000, this::roam);
    } else {
      world.after(0, 2_000, this::connect);
      world.after(2_000, 12_000, this::roam);
    }
  }

  DeviceKey key() {
    return key;
  }

  /// From now on the device keeps one connection and acknowledges everything.
  void calm() {
    calm = true;
    for (var socket : List.copyOf(sockets)) {
      if (socket != current) {
        socket.close();
      } else {
        socket.acknowledgeAll();
        if (socket.welcome && !subscribed) {
          socket.subscribe();
        }
      }
    }
    if (current == null) {
      connect();
    }
  }

  /// The device was deleted and gets another password. Some devices keep using the old one until it
  /// is denied.
  void register(String password) {
    former = former == null && world.chance(0.5) ? credential : former;
    credential = Binary.of(password);
  }

  private void roam() {
    if (calm) {
      return;
    }
    if (world.chance(0.3)) {
      cluster.sendSome(key);
    }
    connect();
    world.after(1_000, current != null && current.tardy ? 40_000 : 12_000, this::roam);
  }

  private void connect() {
    var before = current;
    if (before != null) {
      before.leftBehind = before.left();
      current = null;
      leave(before);
    }
    var node = cluster.anyNode();
    if (node == null) {
      world.after(200, 1_000, this::reconnect);
      return;
    }
    var socket = new Socket(node);
    current = socket;
    newest = socket;
    sockets.add(socket);
    socket.connect();
    world.after(
        10_000,
        10_000,
        () -> {
          if (!socket.welcome) {
            socket.close();
          }
        });
  }

  private void reconnect() {
    if (current == null) {
      connect();
    }
  }

  /// The old socket is closed, half open, or alive for a while beside the new one.
  private void leave(Socket before) {
    switch (world.below(3)) {
      case 0 -> before.close();
      case 1 -> {
        before.deaf = true;
        world.after(1_000, 40_000, before::close);
      }
      default -> world.after(1_000, 30_000, before::close);
    }
  }

  /// The device's end of one connection.
  final class Socket {
    private final SimLink link;
    private final Map<Integer, String> unacknowledged = new HashMap<>();
    private final @Nullable Socket predecessor = newest;
    private Map<Integer, String> before = Map.of();
    private Map<Integer, String> leftBehind = Map.of();
    private final boolean lazy = !calm && world.chance(0.15);
    private final boolean tardy = !calm && !lazy && world.chance(awayAtFirst ? 0.5 : 0.05);
    private final long openedMicros = world.nowMicros();
    private boolean open = true;
    private boolean deaf;
    private boolean welcome;
    // An older socket was admitted after this one was opened, because its node stood still or was
    // slow to accept it: the device cannot tell which of the two was the last.
    private boolean overtaken;
    private final Map<String, Long> lastPlaces = new HashMap<>();
    private final Set<String> again = new HashSet<>();
    // The newest message of each kind.
    private @Nullable String fresh;
    private @Nullable String parked;

    Socket(SimNode node) {
      this.link = new SimLink(world, node, this);
    }

    DeviceKey key() {
      return key;
    }

    private void connect() {
      world.tell(key.device().value(), "connects to " + link.nodeId());
      link.fromDevice(
          new MqttPacket.Connect(
              MqttVersion.V5,
              !persistent,
              60,
              key.device().value(),
              key.app().value(),
              former == null ? credential : former,
              null,
              persistent
                  ? MqttProperties.with(PropertyId.SESSION_EXPIRY_INTERVAL, 3_600)
                  : MqttProperties.NONE));
      if (tardy) {
        ping();
      }
    }

    private void ping() {
      if (open && !deaf) {
        if (welcome) {
          link.fromDevice(new MqttPacket.PingReq());
        }
        world.after(4_000, 6_000, this::ping);
      }
    }

    private void close() {
      if (open) {
        link.deviceClosed();
        closed();
      }
    }

    private Map<Integer, String> left() {
      return isLast() ? Map.copyOf(unacknowledged) : Map.of();
    }

    /// Whether this is the last connection by the directory's knowledge. The directory knows
    /// nothing of a connection to a node that is cut off.
    private boolean isLast() {
      var owner = cluster.stores.owners.get(key);
      return current == this && owner != null && owner.node().value().equals(link.nodeId());
    }

    void closedByNode() {
      if (open && !deaf) {
        closed();
      }
    }

    private void closed() {
      world.tell(key.device().value(), "is closed by or to " + link.nodeId());
      open = false;
      sockets.remove(this);
      if (current == this) {
        leftBehind = left();
        current = null;
        world.after(10, 1_000, SimDevice.this::reconnect);
      }
    }

    void heard(MqttPacket packet) {
      if (!open || deaf) {
        return;
      }
      world.tell(key.device().value(), link.nodeId() + " says " + inShort(packet));
      switch (packet) {
        case MqttPacket.Disconnect(var reason, _) -> denied(reason.code());
        case MqttPacket.ConnAck(var present, var code, _) -> {
          denied(code);
          welcome = code == 0;
          if (welcome) {
            boolean late = newest != null && newest != this;
            before =
                !late && predecessor != null && predecessor.welcome && !predecessor.overtaken
                    ? predecessor.leftBehind
                    : Map.of();
            if (late) {
              newest.overtaken = true;
            }
          }
          subscribed &= !welcome || present;
          if (welcome && world.chance(subscribed ? 0.3 : calm ? 1 : 0.9)) {
            subscribe();
          } else if (welcome) {
            // Some devices come and go without a SUBSCRIBE.
            link.fromDevice(new MqttPacket.PingReq());
          }
        }
        case MqttPacket.SubAck _ -> subscribed |= isLast();
        case MqttPacket.Publish publish -> published(publish);
        default -> {}
      }
    }

    private void denied(int code) {
      if (code == ReasonCode.NOT_AUTHORIZED.code()) {
        former = null;
      }
    }

    private static Object inShort(MqttPacket packet) {
      return packet instanceof MqttPacket.Publish publish
          ? (publish.duplicate() ? "again " : "")
              + publish.packetId()
              + " "
              + publish.payload().utf8()
          : packet.getClass().getSimpleName();
    }

    private void subscribe() {
      link.fromDevice(
          new MqttPacket.Subscribe(
              1,
              List.of(new SubscriptionRequest("push/messages", QoS.AT_LEAST_ONCE)),
              MqttProperties.with(PropertyId.SUBSCRIPTION_IDENTIFIER, subscription)));
    }

    /// The payload is `<message>/<frame|parked|broadcast|shelf>/<place>`, followed by the time of
    /// parking for a parked message. A DUP with another message than the device holds under the id
    /// is wrong if the device has received this very packet before: then it comes from before the
    /// last connection.
    private void published(MqttPacket.Publish publish) {
      var parts = publish.payload().utf8().split("/");
      var message = parts[0];
      int packetId = publish.packetId();
      boolean first = ledger.received(key, new MessageId(message));
      long identifier = publish.properties().number(PropertyId.SUBSCRIPTION_IDENTIFIER, 0);
      if (identifier != subscription) {
        violation(identifier + " is not its subscription, " + subscription + " is");
      }
      var holder = unacknowledged.put(packetId, message);
      if (holder != null) {
        violation("packet id " + packetId + " is used for two unacknowledged messages");
      }
      boolean known = !seen.add(packetId + message);
      if (!publish.duplicate() && again.contains(message)) {
        violation(message + " came again with DUP, and as a new packet on the same connection");
      }
      if (publish.duplicate()) {
        again.add(message);
        var formerly = before.get(packetId);
        if (formerly != null && !formerly.equals(message) && known) {
          violation("packet id " + packetId + " comes again with DUP for another message");
        }
      } else if (first) {
        if (parts.length == 3) {
          checkOrder(parts[1], Long.parseLong(parts[2]));
          fresh = newer(fresh, message);
        } else {
          checkInbox(message, Long.parseLong(parts[3]));
          parked = newer(parked, message);
        }
      }
      if (!lazy || calm) {
        world.after(
            tardy && !calm ? 15_000 : 0,
            tardy && !calm ? 19_000 : 300,
            () -> acknowledge(packetId));
      }
    }

    private void checkOrder(String source, long place) {
      Long last = lastPlaces.put(source, place);
      if (last != null && place <= last) {
        violation(source + " " + place + " came after " + source + " " + last);
      }
    }

    private static String newer(@Nullable String one, String other) {
      return one != null && one.compareTo(other) > 0 ? one : other;
    }

    /// A message that was parked before this connection began comes before all newer parked
    /// messages, whenever and however they were parked. It also comes before all newer messages
    /// from gateways, unless this device or a fault kept the node from emptying the inbox.
    private void checkInbox(String message, long parkedMicros) {
      if (parkedMicros >= openedMicros) {
        return;
      }
      if (parked != null && parked.compareTo(message) > 0) {
        violation(message + " lay in the inbox, and came after " + parked + " of it");
      }
      if (fresh != null
          && fresh.compareTo(message) > 0
          && !lazy
          && !tardy
          && !cluster.stores.wasHinderedSince(key, openedMicros)) {
        violation(message + " lay in the inbox, and came after " + fresh);
      }
    }

    private void acknowledge(int packetId) {
      if (open && !deaf && unacknowledged.remove(packetId) != null) {
        world.tell(key.device().value(), "acknowledges " + packetId + " to " + link.nodeId());
        link.fromDevice(new MqttPacket.PubAck(packetId, ReasonCode.SUCCESS));
      }
    }

    private void acknowledgeAll() {
      List.copyOf(unacknowledged.keySet()).forEach(this::acknowledge);
    }

    private void violation(String what) {
      ledger.violation(key.device().value() + ": " + what);
    }
  }
}
