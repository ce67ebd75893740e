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
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.session.SessionDirectory;
import io.pushplanet.common.session.SessionNotice;
import io.pushplanet.common.session.SessionNotice.Denial;
import io.pushplanet.common.session.SessionNotice.SessionRelease;
import io.pushplanet.common.session.SessionNotice.Takeover;
import io.pushplanet.common.session.SessionOwner;
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

/// Redis and MySQL, which all processes of one simulation share. They behave as the scripts and
/// statements do (`SessionDirectoryIT` tests the real ones for the same behaviour); they may be
/// away, and answers may get lost.
final class Stores {
  private static final NodeId NOBODY = new NodeId("nobody");
  // By then every node has compared its sessions.
  private static final long CALM_AFTER_MICROS = 10_000_000;
  private static final Duration LONGER_THAN_THE_WORLD = Duration.ofMinutes(10);

  final World world;
  private final Set<Bug> bugs;
  private final Ledger ledger;
  final SimShelf shelf;
  final Map<DeviceKey, SessionOwner> owners = new HashMap<>();
  private final Map<DeviceKey, Directory.RememberedSession> remembered = new HashMap<>();
  private final Map<DeviceKey, Long> denied = new HashMap<>();
  private final Map<NodeId, Long> leases = new HashMap<>();
  private final Map<DeviceKey, TreeMap<Long, InboxRow>> inbox = new HashMap<>();
  private final Map<NodeId, Subscriber> subscribers = new HashMap<>();
  private final Map<DeviceKey, Long> hinderedMicros = new HashMap<>();
  private final Map<DeviceKey, Claim> claims = new HashMap<>();
  // Fewer or more rows than fit into a session.
  private final int pageRows;
  // How long a notice takes at most, unless it gets lost.
  private final int noticeMillis;
  // Whether notices get lost with the node's connection: then the node knows that it has missed
  // some, and compares everything. Otherwise its sessions are compared soon anyway.
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

  /// The last claim of a device, and whether the owner has written a message to the device since.
  private record Claim(SessionOwner owner, long atMicros, boolean hasWritten) {}

  /// A fault begins or ends. For a while the ledger allows its consequences: a claim that gets no
  /// confirmation goes on, for example.
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

  /// A node writes a message to a device. It is a violation if the next owner wrote before, unless
  /// a fault may have kept the node from knowing.
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

  /// The connection of one node, which keeps the order of notices.
  private final class Subscriber {
    private final Consumer<SessionNotice> ear;
    private final Runnable missed;
    private long lastMicros;

    Subscriber(Consumer<SessionNotice> ear, Runnable missed) {
      this.ear = ear;
      this.missed = missed;
    }

    void hears(SessionNotice told) {
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

  /// @param missed called when notices were lost
  void subscribe(NodeId node, Consumer<SessionNotice> ear, Runnable missed) {
    subscribers.put(node, new Subscriber(ear, missed));
  }

  void unsubscribe(NodeId node) {
    subscribers.remove(node);
  }

  /// @return whether the former lease was still known
  boolean heartbeat(NodeId node) {
    return leases.put(node, world.nowMillis()) != null;
  }

  /// As gateways see it, which keep the leases that they read for a second.
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

  /// As [io.pushplanet.common.session.Denials#deny].
  void deny(DeviceKey device, long ends) {
    if (isDenied(device, ends)) {
      return;
    }
    world.tell("redis", "denies passwords of " + device.device().value() + " until " + ends);
    denied.put(device, ends);
    troubled();
    var owner = bugs.contains(Bug.DENIED_OWNER_STAYS) ? owners.get(device) : owners.remove(device);
    remembered.remove(device);
    var there = owner == null ? null : subscribers.get(owner.node());
    if (owner != null && there != null) {
      there.hears(new Denial(device, owner.epoch(), ends));
    }
  }

  boolean isDenied(DeviceKey device, long ends) {
    return denied.getOrDefault(device, 0L) >= ends;
  }

  /// @return whether the other node has a connection to Redis, on which the notice may still get
  ///     lost
  private boolean tell(DeviceKey device, @Nullable SessionOwner former, SessionOwner owner) {
    var there = former == null ? null : subscribers.get(former.node());
    if (there == null || former.node().equals(owner.node())) {
      return false;
    }
    there.hears(new Takeover(device, owner));
    return true;
  }

  /// The directory of a node without fencing: it finds itself the owner of each of its devices.
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

  /// The directory as one node sees it.
  class DirectoryOf implements Directory {
    private final SimNode node;

    DirectoryOf(SimNode node) {
      this.node = node;
    }

    /// Other processes may act before and after the effect; the answer may get lost, but not the
    /// effect.
    private <T extends @Nullable Object> T call(Supplier<T> effect) {
      world.interleave();
      if (redisAway || node.cutFromRedis || !node.alive) {
        troubled();
        throw new RedisUnavailable("away", null);
      }
      T answer = effect.get();
      node.maybeStopAgain();
      world.interleave();
      boolean wasStopped = node.frozen;
      world.passWhile(() -> node.frozen && node.alive);
      // An answer that came while the node was stopped may be read before the deadline fires, or
      // not.
      if (!node.alive || world.chance(wasStopped ? 0.2 : 0.005)) {
        troubled();
        throw new RedisUnavailable("no answer", null);
      }
      return answer;
    }

    @Override
    public List<Answer> execute(List<Command> commands) {
      if (commands.size() > 1) {
        together++;
      }
      var answers = call(() -> commands.stream().map(this::watched).toList());
      if (bugs.contains(Bug.ANSWERS_MIXED_UP)) {
        var mixed = new ArrayList<>(answers);
        Collections.rotate(mixed, 1);
        return mixed;
      }
      return answers;
    }

    private Answer watched(Command command) {
      var device = command.device();
      var before = remembered.get(device);
      boolean denied =
          switch (command) {
            case Command.Remember(_, var epoch, _, var ends) -> isOut(device, epoch, ends);
            case Command.Forget(_, var epoch, var ends) -> isOut(device, epoch, ends);
            case Command.End(_, var epoch, _, _, var ends, _) -> isOut(device, epoch, ends);
            case Command.Claim _, Command.Release _, Command.ConfirmRelease _ -> false;
          };
      var answer = oneOf(command);
      if (denied && !Objects.equals(before, remembered.get(device))) {
        ledger.violation("a denied session changes what is remembered: " + command);
      }
      return answer;
    }

    /// Whether the session's password is denied, and the directory has another owner or none.
    private boolean isOut(DeviceKey device, long epoch, long ends) {
      return isDenied(device, ends) && !new SessionOwner(node.id, epoch).equals(owners.get(device));
    }

    /// A command may fail alone.
    private Answer oneOf(Command command) {
      if (world.chance(0.005)) {
        troubled();
        return new Answer.Failed("this one failed");
      }
      var device = command.device();
      switch (command) {
        case Command.Claim(_, var wish, var ends) -> {
          return isDenied(device, ends) && !bugs.contains(Bug.DENIED_MAY_CLAIM)
              ? new Answer.Denied()
              : claim(device, wish);
        }
        case Command.Remember(_, var epoch, var subscription, var ends) -> {
          if (mayWrite(device, epoch, ends) && !isNewer(device, epoch)) {
            remembered.put(device, new RememberedSession(subscription, epoch));
          }
        }
        case Command.Forget(_, var epoch, var ends) -> {
          if (mayWrite(device, epoch, ends)) {
            forget(device, epoch);
          }
        }
        case Command.Release(_, var epoch) -> release(device, epoch);
        case Command.ConfirmRelease(_, var claimant, var session) ->
            describe(device, claimant.epoch() - 1, claimant, session);
        case Command.End(_, var epoch, var seconds, var left, var ends, _) -> {
          boolean may = mayWrite(device, epoch, ends);
          boolean ours = release(device, epoch);
          if (!may) {
            break;
          }
          if (!ours) {
            describeLost(device, epoch, seconds, left);
          }
          // Nothing expires within a simulation.
          if (seconds == 0 || (!ours && left == null)) {
            forget(device, epoch);
          } else if (ours
              && (left == null || remembered.containsKey(device))
              && !isNewer(device, epoch)) {
            remembered.put(device, new RememberedSession(left, epoch));
          }
        }
      }
      return new Answer.Done();
    }

    private boolean mayWrite(DeviceKey device, long epoch, long ends) {
      return !isOut(device, epoch, ends) || bugs.contains(Bug.DENIED_MAY_WRITE);
    }

    private void describeLost(
        DeviceKey device, long epoch, long seconds, @Nullable Subscription left) {
      var owner = owners.get(device);
      if (owner == null
          || owner.node().equals(node.id)
          || owner.epoch() <= epoch
          || remembered.containsKey(device)) {
        return;
      }
      boolean known = seconds > 0 || bugs.contains(Bug.RELEASE_DESCRIBES_UNKNOWN_SESSION);
      describe(
          device,
          epoch,
          owner,
          known ? Optional.of(new RememberedSession(left, epoch)) : Optional.empty());
    }

    private void describe(
        DeviceKey device, long epoch, SessionOwner owner, Optional<RememberedSession> described) {
      var there = subscribers.get(owner.node());
      if (there != null) {
        var session = described.map(held -> text(held.subscription())).orElse("");
        world.tell(node.id.value(), "leaves " + session + " of " + device.device().value());
        there.hears(new SessionRelease(device, epoch, session));
      }
    }

    private static String text(@Nullable Subscription left) {
      return left == null ? "3,0" : left.qos().ordinal() + "," + left.identifier();
    }

    private Answer claim(DeviceKey device, FormerSession wish) {
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
      boolean heard = tell(device, former, owner) && !bugs.contains(Bug.NO_WAIT_FOR_FORMER_OWNER);
      return new Answer.Claimed(
          epoch, Optional.ofNullable(former), heard, takeUp(device, epoch, wish));
    }

    private Optional<RememberedSession> takeUp(DeviceKey device, long epoch, FormerSession wish) {
      var held = remembered.get(device);
      if (held == null) {
        return Optional.empty();
      }
      if (wish != FormerSession.RESUME || held.subscription() == null) {
        remembered.remove(device);
        return wish == FormerSession.FORGET ? Optional.empty() : Optional.of(held);
      }
      if (!bugs.contains(Bug.NO_MARK_AT_RESUME)) {
        remembered.put(device, new RememberedSession(held.subscription(), epoch));
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

  /// Parks a message. A message that is parked again keeps its place.
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

  /// As [io.pushplanet.cm.inbox.Inbox#among].
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

  /// Whether, since then, reading the device's inbox failed or the event of a delivery was refused.
  boolean wasHinderedSince(DeviceKey device, long micros) {
    return hinderedMicros.getOrDefault(device, -1L) >= micros;
  }

  int parked() {
    return inbox.values().stream().mapToInt(Map::size).sum();
  }

  /// The inbox as one node sees it. As in [io.pushplanet.cm.inbox.Inbox], the event of a delivery
  /// is published before the row is deleted or the position moves.
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
        then.done(bugs.contains(Bug.REFUSED_EVENT_COUNTS_AS_PUBLISHED));
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
