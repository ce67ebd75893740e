package io.pushplanet.cm.simulator;

import io.pushplanet.cm.directory.Directory;
import io.pushplanet.cm.inbox.InboxPage;
import io.pushplanet.cm.inbox.InboxRow;
import io.pushplanet.cm.inbox.ParkedMessages;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.NodeId;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionOwner;
import io.pushplanet.common.session.TakeoverNotices.Bequest;
import io.pushplanet.common.session.TakeoverNotices.Denial;
import io.pushplanet.common.session.TakeoverNotices.Notice;
import io.pushplanet.common.session.TakeoverNotices.Word;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Redis and MySQL as all processes of one simulation share them. They do what the scripts and statements do
/// (`SessionDirectoryIT` holds the real ones to the same words); they may be away, and answers may get lost.
final class Stores {
  private static final NodeId NOBODY = new NodeId("nobody");
  // By then everybody has compared what he has.
  private static final long CALM_AFTER_MICROS = 10_000_000;
  private static final Duration LONGER_THAN_THE_WORLD = Duration.ofMinutes(10);

  final World world;
  private final Set<Bug> bugs;
  private final Ledger ledger;
  final SimShelf shelf;
  final Map<DeviceKey, SessionOwner> owners = new HashMap<>();
  private final Map<DeviceKey, Directory.Remembered> remembered = new HashMap<>();
  private final Map<DeviceKey, Long> denied = new HashMap<>();
  private final Map<NodeId, Long> leases = new HashMap<>();
  private final Map<DeviceKey, TreeMap<Long, InboxRow>> inbox = new HashMap<>();
  private final Map<NodeId, Subscriber> subscribers = new HashMap<>();
  private final Map<DeviceKey, Long> hinderedMicros = new HashMap<>();
  private final Map<DeviceKey, Claim> claims = new HashMap<>();
  // Shorter and longer than what fits into a session.
  private final int pageRows;
  // The longest that a notice takes, unless it gets lost.
  private final int noticeMillis;
  // With its connection: the node knows that it has missed something, and compares everything.
  // Where it does not know, its
  // sessions have their turn to be compared soon.
  private final boolean lossesAreKnown;
  final Duration verifyEvery;
  boolean redisAway;
  int outOfReach;
  boolean mysqlAway;
  boolean mended;
  double noticesLost;
  private long troubledMicros;
  double eventsRefused = 0.03;
  int losses;
  long together;
  private long lastParkedMicros;

  Stores(World world, Ledger ledger, Set<Bug> bugs) {
    this.shelf = new SimShelf(world, ledger, bugs);
    this.bugs = bugs;
    this.ledger = ledger;
    this.world = world;
    this.pageRows = world.chance(0.5) ? 3 : 20;
    this.noticeMillis = world.chance(0.5) ? 20 : 200;
    this.lossesAreKnown = world.chance(0.5);
    this.verifyEvery = lossesAreKnown ? LONGER_THAN_THE_WORLD : Duration.ofSeconds(5);
  }

  /// The last claim of a device, and whether its owner has written a message to it since.
  private record Claim(SessionOwner owner, long atMicros, boolean hasWritten) {}

  /// Something is not as it should be, and nobody knows what it is good for: who hears nothing of a claim goes on.
  void troubled() {
    troubledMicros = world.nowMicros();
  }

  boolean isCalm() {
    return outOfReach == 0 && !redisAway && world.nowMicros() - troubledMicros > CALM_AFTER_MICROS;
  }

  private boolean noticeLost() {
    boolean lost = world.chance(noticesLost);
    if (lost) {
      troubled();
    }
    return lost;
  }

  /// A node writes a message to a device. Two own it where one does so after the next owner did, unless it could not know.
  void wrote(NodeId node, DeviceKey device) {
    var claim = claims.get(device);
    if (claim == null) {
      return;
    }
    if (claim.owner.node().equals(node)) {
      claims.put(device, new Claim(claim.owner, claim.atMicros, true));
    } else if (claim.hasWritten && claim.atMicros - troubledMicros > CALM_AFTER_MICROS) {
      ledger.violation(
          "%s writes to %s after %s did, which had claimed it"
              .formatted(node, device.device().value(), claim.owner));
    }
  }

  void loseRedis() {
    troubled();
    losses++;
    owners.clear();
    remembered.clear();
    denied.clear();
    leases.clear();
  }

  /// One node's connection, on which everything comes in its order.
  private final class Subscriber {
    private final Consumer<Word> ear;
    private final Runnable missed;
    private long lastMicros;

    Subscriber(Consumer<Word> ear, Runnable missed) {
      this.ear = ear;
      this.missed = missed;
    }

    void hears(Word told) {
      if (noticeLost()) {
        if (lossesAreKnown) {
          missed.run();
        }
        return;
      }
      lastMicros = Math.max(lastMicros, world.nowMicros() + world.below(noticeMillis * 1_000));
      world.at(lastMicros, () -> ear.accept(told));
    }
  }

  /// @param missed is run where words were lost
  void subscribe(NodeId node, Consumer<Word> ear, Runnable missed) {
    subscribers.put(node, new Subscriber(ear, missed));
  }

  void unsubscribe(NodeId node) {
    subscribers.remove(node);
  }

  /// @return whether the lease before was still known
  boolean heartbeat(NodeId node) {
    return leases.put(node, world.nowMillis()) != null;
  }

  /// As gateways see it, with leases that they keep for a second.
  boolean isAlive(NodeId node) {
    Long at = leases.get(node);
    return at != null && at + SessionDirectory.LEASE.toMillis() + 1_000 > world.nowMillis();
  }

  Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
    var found = new HashMap<DeviceKey, SessionOwner>();
    for (var device : devices) {
      var owner = owners.get(device);
      if (owner != null) {
        found.put(device, owner);
      }
    }
    return found;
  }

  /// As [io.pushplanet.common.session.Denials#deny] does it.
  void deny(DeviceKey device, long ends) {
    if (isDenied(device, ends)) {
      return;
    }
    world.tell("redis", "denies passwords of " + device.device().value() + " until " + ends);
    denied.put(device, ends);
    troubled();
    var owner =
        bugs.contains(Bug.NO_NET_BELOW_DENIALS) ? owners.get(device) : owners.remove(device);
    remembered.remove(device);
    var there = owner == null ? null : subscribers.get(owner.node());
    if (owner != null && there != null) {
      there.hears(new Denial(device, owner.epoch(), ends));
    }
  }

  boolean isDenied(DeviceKey device, long ends) {
    return denied.getOrDefault(device, 0L) >= ends;
  }

  /// @return whether the other node has a connection to Redis, where what it is told may still get lost
  private boolean tell(DeviceKey device, @Nullable SessionOwner former, SessionOwner owner) {
    var there = former == null ? null : subscribers.get(former.node());
    if (there == null || former.node().equals(owner.node())) {
      return false;
    }
    there.hears(new Notice(device, owner));
    return true;
  }

  /// As a node without fencing sees it: whoever has a device, it is its own.
  final class Unfenced extends DirectoryOf {
    private final SimNode node;

    Unfenced(SimNode node) {
      super(node);
      this.node = node;
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      var seen = new HashMap<DeviceKey, SessionOwner>();
      devices.forEach(device -> {
        var session = node.table.find(device);
        if (session != null) {
          seen.put(device, new SessionOwner(node.id, session.epoch()));
        }
      });
      return seen;
    }
  }

  /// The directory as one node reaches it.
  class DirectoryOf implements Directory {
    private final SimNode node;

    DirectoryOf(SimNode node) {
      this.node = node;
    }

    /// Before and after the effect others may act; the answer may be lost, but not the effect.
    private <T extends @Nullable Object> T call(Supplier<T> effect) {
      world.interleave();
      if (redisAway || node.cutFromRedis || !node.alive) {
        troubled();
        throw new DirectoryUnavailable("away", null);
      }
      T answer = effect.get();
      node.maybeStopAgain();
      world.interleave();
      boolean wasStopped = node.frozen;
      world.passWhile(() -> node.frozen && node.alive);
      // What came meanwhile is found before its deadline is, or not.
      if (!node.alive || world.chance(wasStopped ? 0.2 : 0.005)) {
        troubled();
        throw new DirectoryUnavailable("no answer", null);
      }
      return answer;
    }

    @Override
    public List<Answer> carryOut(List<Order> orders) {
      if (orders.size() > 1) {
        together++;
      }
      var answers = call(() -> orders.stream().map(this::watched).toList());
      if (bugs.contains(Bug.ANSWERS_MIXED_UP)) {
        var mixed = new ArrayList<>(answers);
        Collections.rotate(mixed, 1);
        return mixed;
      }
      return answers;
    }

    private Answer watched(Order order) {
      var device = order.device();
      var before = remembered.get(device);
      boolean denied =
          switch (order) {
            case Order.Remember(_, var epoch, _, var ends) -> isOut(device, epoch, ends);
            case Order.Forget(_, var epoch, var ends) -> isOut(device, epoch, ends);
            case Order.End(_, var epoch, _, _, var ends) -> isOut(device, epoch, ends);
            case Order.Claim _, Order.Release _, Order.LetGo _ -> false;
          };
      var answer = oneOf(order);
      if (denied && !Objects.equals(before, remembered.get(device))) {
        ledger.violation("a denied session changes what is remembered: " + order);
      }
      return answer;
    }

    /// The session came by a password that is denied since, and the directory does not have it.
    private boolean isOut(DeviceKey device, long epoch, long ends) {
      return isDenied(device, ends) && !new SessionOwner(node.id, epoch).equals(owners.get(device));
    }

    /// One of many may fail alone.
    private Answer oneOf(Order order) {
      if (world.chance(0.005)) {
        troubled();
        return new Answer.Failed("this one failed");
      }
      var device = order.device();
      switch (order) {
        case Order.Claim(_, var wish, var ends) -> {
          return isDenied(device, ends) && !bugs.contains(Bug.DENIED_MAY_CLAIM)
              ? new Answer.Denied()
              : claim(device, wish);
        }
        case Order.Remember(_, var epoch, var subscription, var ends) -> {
          if (mayWrite(device, epoch, ends) && !isNewer(device, epoch)) {
            remembered.put(device, new Remembered(subscription, epoch));
          }
        }
        case Order.Forget(_, var epoch, var ends) -> {
          if (mayWrite(device, epoch, ends)) {
            forget(device, epoch);
          }
        }
        case Order.Release(_, var epoch) -> release(device, epoch);
        case Order.LetGo(_, var heir, var session) ->
            leave(device, heir.epoch() - 1, heir, session);
        case Order.End(_, var epoch, var seconds, var left, var ends) -> {
          boolean may = mayWrite(device, epoch, ends);
          boolean ours = release(device, epoch);
          if (!may) {
            break;
          }
          if (!ours) {
            bequeath(device, epoch, seconds, left);
          }
          // Nothing expires within a simulation.
          if (seconds == 0 || (!ours && left == null)) {
            forget(device, epoch);
          } else if (ours
              && (left == null || remembered.containsKey(device))
              && !isNewer(device, epoch)) {
            remembered.put(device, new Remembered(left, epoch));
          }
        }
      }
      return new Answer.Done();
    }

    private boolean mayWrite(DeviceKey device, long epoch, long ends) {
      return !isOut(device, epoch, ends) || bugs.contains(Bug.DENIED_MAY_WRITE);
    }

    private void bequeath(DeviceKey device, long epoch, long seconds, @Nullable Subscription left) {
      var heir = owners.get(device);
      if (heir == null
          || heir.node().equals(node.id)
          || heir.epoch() <= epoch
          || remembered.containsKey(device)) {
        return;
      }
      boolean known = seconds > 0 || bugs.contains(Bug.WORD_OF_WHO_DOES_NOT_KNOW);
      var session =
          !known ? "" : left == null ? "3,0" : left.qos().ordinal() + "," + left.identifier();
      leave(device, epoch, heir, session);
    }

    private void leave(DeviceKey device, long epoch, SessionOwner heir, String session) {
      var there = subscribers.get(heir.node());
      if (there != null) {
        world.tell(node.id.value(), "leaves " + session + " of " + device.device().value());
        there.hears(new Bequest(device, epoch, session));
      }
    }

    private Answer claim(DeviceKey device, Former wish) {
      var former = owners.get(device);
      long epoch = node.clockMillis();
      var held = remembered.get(device);
      epoch = held == null ? epoch : Math.max(epoch, held.epoch() + 1);
      if (former != null && former.epoch() >= epoch) {
        epoch = former.epoch() + 1;
      }
      var owner = new SessionOwner(node.id, epoch);
      owners.put(device, owner);
      claims.put(device, new Claim(owner, world.nowMicros(), false));
      world.tell(node.id.value(), "claims " + device.device().value() + " at " + epoch);
      boolean heard = tell(device, former, owner) && !bugs.contains(Bug.NO_WAIT_FOR_THE_FORMER);
      return new Answer.Claimed(
          epoch, Optional.ofNullable(former), heard, takeUp(device, epoch, wish));
    }

    private Optional<Remembered> takeUp(DeviceKey device, long epoch, Former wish) {
      var held = remembered.get(device);
      if (held == null) {
        return Optional.empty();
      }
      if (wish != Former.RESUME || held.subscription() == null) {
        remembered.remove(device);
        return wish == Former.FORGET ? Optional.empty() : Optional.of(held);
      }
      if (!bugs.contains(Bug.NO_MARK_AT_RESUME)) {
        remembered.put(device, new Remembered(held.subscription(), epoch));
      }
      return Optional.of(held);
    }

    private boolean release(DeviceKey device, long epoch) {
      world.tell(node.id.value(), "releases " + device.device().value() + " at " + epoch);
      var held = owners.get(device);
      if (held == null || !held.node().equals(node.id) || held.epoch() > epoch) {
        return false;
      }
      owners.remove(device);
      return held.epoch() == epoch;
    }

    private void forget(DeviceKey device, long epoch) {
      if (!isNewer(device, epoch)) {
        remembered.remove(device);
      }
    }

    @Override
    public Map<DeviceKey, SessionOwner> owners(Collection<DeviceKey> devices) {
      return call(() -> Stores.this.owners(devices));
    }

    @Override
    public Announcement announce(Map<DeviceKey, Announced> sessions) {
      return call(() -> {
        var answers = new HashMap<DeviceKey, SessionOwner>();
        var refused = new HashSet<DeviceKey>();
        sessions.forEach((device, session) -> {
          if (isDenied(device, session.passwordEnds()) && !bugs.contains(Bug.DENIED_MAY_ANNOUNCE)) {
            refused.add(device);
          } else {
            answers.put(device, announce(device, session.epoch()));
          }
        });
        return new Announcement(answers, refused);
      });
    }

    @Override
    public Set<DeviceKey> denied(Map<DeviceKey, Long> passwordEnds) {
      return call(() -> {
        var found = new HashSet<>(passwordEnds.keySet());
        found.removeIf(device -> !isDenied(device, passwordEnds.get(device)));
        return found;
      });
    }

    private SessionOwner announce(DeviceKey device, long epoch) {
      var former = owners.get(device);
      var held = remembered.get(device);
      if (held != null && held.epoch() > epoch) {
        return former != null && former.epoch() >= held.epoch()
            ? former
            : new SessionOwner(NOBODY, held.epoch());
      }
      if (former != null && former.epoch() >= epoch) {
        return former;
      }
      var owner = new SessionOwner(node.id, epoch);
      world.tell(node.id.value(), "announces " + device.device().value() + " at " + epoch);
      owners.put(device, owner);
      claims.remove(device);
      tell(device, former, owner);
      if (held != null && held.epoch() < epoch) {
        remembered.remove(device);
      }
      return owner;
    }

    private boolean isNewer(DeviceKey device, long epoch) {
      var owner = owners.get(device);
      var held = remembered.get(device);
      return (owner != null && owner.epoch() > epoch) || (held != null && held.epoch() > epoch);
    }
  }

  /// Parks a message; the same one again stays where it was. Returns its place in the device's order.
  void park(DeviceKey device, MessageId message, String payload, long expiresAtMillis) {
    var rows = inbox.computeIfAbsent(device, _ -> new TreeMap<>());
    if (rows.values().stream().anyMatch(row -> row.message().equals(message))) {
      return;
    }
    world.tell("inbox", "has " + message + " for " + device.device().value());
    lastParkedMicros = Math.max(lastParkedMicros + 1, world.nowMicros());
    rows.put(
        lastParkedMicros,
        new InboxRow(
            device,
            message.value(),
            message,
            Binary.of(payload + "/parked/" + lastParkedMicros + "/" + lastParkedMicros),
            expiresAtMillis));
  }

  /// As [io.pushplanet.cm.inbox.Inbox#among] says it.
  Optional<Collection<DeviceKey>> parkedAmong(List<DeviceKey> devices) {
    return mysqlAway
        ? Optional.empty()
        : Optional.of(
            devices.stream()
                .filter(device ->
                    shelf.has(device) || !inbox.getOrDefault(device, new TreeMap<>()).isEmpty())
                .toList());
  }

  private void hindered(DeviceKey device) {
    hinderedMicros.put(device, world.nowMicros());
  }

  /// Whether since then this device's inbox could not be read, or an end of it not be told.
  boolean wasHinderedSince(DeviceKey device, long micros) {
    return hinderedMicros.getOrDefault(device, -1L) >= micros;
  }

  int parked() {
    return inbox.values().stream().mapToInt(Map::size).sum();
  }

  /// The inbox as one node reaches it: pages are read, outcomes are told before rows are deleted or positions move, as
  /// [io.pushplanet.cm.inbox.Inbox] does.
  final class InboxOf implements ParkedMessages {
    private final SimNode node;
    private final SimShelf.Reader broadcasts = shelf.new Reader();

    InboxOf(SimNode node) {
      this.node = node;
    }

    @Override
    public void read(DeviceKey device, Loop loop, Consumer<InboxPage> then) {
      node.work(
          1,
          20,
          () -> {
            if (mysqlAway) {
              hindered(device);
              loop.execute(() -> then.accept(new InboxPage.Unreadable()));
              return;
            }
            var page = page(device);
            world.tell(
                node.id.value(),
                "reads " + page.rows().size() + " rows of " + device.device().value());
            node.work(0, 10, () -> loop.execute(() -> then.accept(page)));
          });
    }

    private InboxPage.Rows page(DeviceKey device) {
      var own =
          inbox.getOrDefault(device, new TreeMap<>()).values().stream()
              .sorted(Comparator.comparing(InboxRow::message))
              .toList();
      return new InboxPage.Rows(own.stream().limit(pageRows).toList(), own.size() > pageRows)
          .with(broadcasts.owed(device));
    }

    @Override
    public void written(long tookNanos) {}

    @Override
    public void delivered(InboxRow row, @Nullable Instant lateAt, Then then) {
      if (world.chance(eventsRefused)) {
        hindered(row.device());
        then.done(bugs.contains(Bug.UNTOLD_COUNTS_AS_TOLD));
        return;
      }
      node.work(
          1,
          20,
          () -> {
            world.tell(node.id.value(), "tells " + row.message() + " delivered");
            node.ledger.settled(row.device(), row.message());
            delete(row, then);
          });
    }

    private void delete(InboxRow row, Then then) {
      node.work(
          1,
          50,
          () -> {
            if (mysqlAway) {
              hindered(row.device());
              delete(row, then);
              return;
            }
            world.tell(node.id.value(), "is done with " + row.message());
            if (row.seq() > 0) {
              shelf.moveOn(row);
            } else {
              inbox.get(row.device()).values().removeIf(row::equals);
            }
            then.done(true);
          });
    }

    @Override
    public void failed(InboxRow row, Settlement.Refused why, Then then) {
      throw new AssertionError("nothing is refused here: " + why);
    }

    @Override
    public void over(InboxRow row, Then then) {
      if (row.fate() != InboxRow.Fate.REPEAT) {
        throw new AssertionError("every row is due here: " + row);
      }
      delete(row, then);
    }
  }
}
