package io.pushplanet.cm.inbox;

import static io.pushplanet.cm.session.SessionBuilder.aSession;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.cm.mqtt.Binary;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.LateAcknowledgements;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.SessionLimits;
import io.pushplanet.cm.session.SessionMetrics;
import io.pushplanet.cm.session.Settlement;
import io.pushplanet.cm.session.SharedPublish;
import io.pushplanet.cm.session.Subscription;
import io.pushplanet.cm.transport.HandLoop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.testing.MutableClock;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The messages of one device during a random life that a seed determines: fresh ones, rows and
/// broadcasts' lists, over several connections, with slow and silent times, and with MySQL and the
/// broker away at times. At its end all faults are repaired, and every message must have arrived.
///
/// Order is judged at the device. It is a violation if a message that is sent for the first time
/// overtakes an older one that was available before it (offered, or parked and announced), or that
/// this connection has read, and that has not been sent yet; unless the inbox could not be read or
/// did not move.
final class DeviceLife {
  private static final DeviceKey DEVICE = new DeviceKey(new AppId("shop"), new DeviceId("d1"));
  private static final PacketLimits LIMITS = PacketLimits.UNAUTHENTICATED.withPacketBytes(1 << 16);
  private static final Duration UNRESPONSIVE_AFTER = Duration.ofSeconds(60);
  private static final boolean TOLD = Long.getLong("seed") != null;
  private static final int STEPS = 400;
  private static final int ROUNDS = 2_000;
  private static final int STILL_SWEEPS = 5;
  private static final long NEVER = Long.MAX_VALUE;

  private final SplittableRandom random;
  private final MutableClock clock = MutableClock.started();
  private final HandLoop loop = new HandLoop();
  private final List<String> violations = new ArrayList<>();
  private final List<Message> messages = new ArrayList<>();
  private final Queue<Message> returned = new ArrayDeque<>();
  private final Store store = new Store();
  private final MqttVersion version;
  private final Subscription subscription;
  private final int window;
  private final int page;
  private final double mysqlAway;
  private final double brokerAway;
  private final DeviceSession.Shared shared;

  private DrainedClient client;
  private DeviceSession session;
  private InboxDrain drain;
  private final Map<Integer, Message> unacknowledged = new LinkedHashMap<>();
  private int seen;
  private int connection;
  private long moment;
  private int stillSweeps;
  private boolean unread;

  /// A message with its true state.
  private static final class Message {
    final int number;
    final String slot;
    final long expiresAtMillis;
    final boolean broadcast;
    // When it came to its current place, and when this node learned that.
    long thereSince;
    long knownSince = NEVER;
    // The last connection that has read it from the inbox.
    int readBy = -1;
    boolean retried;
    boolean received;
    boolean ended;

    Message(int number, String slot, long expiresAtMillis, boolean broadcast) {
      this.number = number;
      this.slot = slot;
      this.expiresAtMillis = expiresAtMillis;
      this.broadcast = broadcast;
    }

    MessageId id() {
      return new MessageId(String.format(Locale.ROOT, "0190b8a0-0000-7000-8000-%012d", number));
    }

    Binary payload() {
      return Binary.of(Integer.toString(number));
    }
  }

  private DeviceLife(long seed) {
    random = new SplittableRandom(seed);
    version = chance(0.5) ? MqttVersion.V5 : MqttVersion.V3_1_1;
    subscription = Subscription.of(chance(0.3) ? QoS.AT_MOST_ONCE : QoS.AT_LEAST_ONCE, 0);
    window = 1 + random.nextInt(6);
    // Smaller and larger than a session's window.
    page = chance(0.5) ? 3 : 20;
    mysqlAway = chance(0.5) ? 0 : 0.2;
    brokerAway = chance(0.5) ? 0 : 0.2;
    shared =
        new DeviceSession.Shared(
            new SessionLimits(window, 4, Duration.ofSeconds(2), Duration.ZERO, UNRESPONSIVE_AFTER),
            new SessionMetrics(new SimpleMeterRegistry()),
            new LateAcknowledgements(1_000, _ -> {}),
            clock);
    client = new DrainedClient(loop, version);
    session = newSession();
    drain = client.drain(store, session);
  }

  /// The violations found in the life of this seed.
  static List<String> violations(long seed) {
    var life = new DeviceLife(seed);
    life.live();
    return life.violations;
  }

  private void live() {
    tell(version + " " + subscription + " window " + window + " page " + page);
    for (int early = random.nextInt(12); early > 0; early--) {
      store.park(born());
      passes(Duration.ofMillis(1));
    }
    subscribe();
    look();
    for (int step = 0; step < STEPS; step++) {
      passes(Duration.ofMillis(1 + random.nextInt(20)));
      step();
      look();
    }
    mend();
  }

  private void step() {
    switch (random.nextInt(24)) {
      case 0, 1, 2, 3, 4 -> offer(born(), false);
      case 5, 6 -> store.park(born());
      case 7, 8 -> takeUpReturned();
      case 9, 10 -> nudge();
      case 11, 12, 13 -> store.answer(chance(mysqlAway));
      case 14, 15, 16, 17 -> acknowledge(random.nextInt(3) + 1);
      case 18, 19, 20 -> store.confirm(chance(brokerAway));
      case 21 -> sweepAfter(Duration.ofSeconds(1));
      default -> rarely();
    }
  }

  private void rarely() {
    switch (random.nextInt(16)) {
      case 0 -> sweepAfter(UNRESPONSIVE_AFTER.plusSeconds(1));
      case 1 -> {
        session.unsubscribe();
        loop.turn();
        look();
        subscribe();
      }
      case 2, 3 -> reconnect();
      default -> sweepAfter(Duration.ofSeconds(1));
    }
  }

  /// One in three has a collapse key, one in eight expires soon, one in four is a broadcast.
  private Message born() {
    int number = messages.size() + 1;
    var slot = chance(0.33) ? "key-" + random.nextInt(2) : "message-" + number;
    var lives = Duration.ofSeconds(chance(0.12) ? 1 + random.nextInt(5) : 1_000_000);
    var born = new Message(number, slot, clock.instant().plus(lives).toEpochMilli(), chance(0.25));
    messages.add(born);
    return born;
  }

  private void offer(Message message, boolean again) {
    tell((again ? "again " : "fresh ") + message.number + " " + message.slot);
    message.thereSince = ++moment;
    message.retried = again;
    // It waits where it came, although it is older than the others there.
    message.knownSince = again ? NEVER : moment;
    long patience = Duration.ofMillis(random.nextInt(10_000)).toNanos();
    session.offer(
        new OutboundMessage(
            new SharedPublish(message.id(), message.payload(), message.expiresAtMillis),
            loop.nowNanos + patience,
            new Fresh(message)));
    loop.turn();
  }

  private final class Fresh implements OutboundMessage.Origin {
    private final Message message;
    private boolean settled;

    Fresh(Message message) {
      this.message = message;
    }

    @Override
    public void written() {}

    @Override
    public void settled(OutboundMessage sent, Settlement settlement) {
      tell(message.number + " is " + settlement);
      if (settled) {
        violation(message.number + " was settled twice");
      }
      settled = true;
      switch (settlement) {
        case Settlement.Delivered _ -> ended(message, message.received);
        case Settlement.Expired() -> ended(message, message.expiresAtMillis <= clock.millis());
        case Settlement.NotHere(),
            Settlement.NotSubscribed(),
            Settlement.TimedOut(),
            Settlement.Refused _ -> {
          message.knownSince = NEVER;
          returned.add(message);
        }
      }
    }
  }

  private void ended(Message message, boolean rightly) {
    message.ended = true;
    if (!rightly) {
      violation(message.number + " has come to an end that is none");
    }
  }

  /// A gateway parks returned messages, or tries again.
  private void takeUpReturned() {
    var message = returned.poll();
    if (message == null) {
      return;
    }
    if (message.broadcast || chance(0.8)) {
      store.park(message);
    } else {
      offer(message, true);
    }
  }

  private void nudge() {
    store.known();
    client.askForParked();
    loop.turn();
  }

  private void subscribe() {
    tell("subscribes");
    store.known();
    session.subscribe(subscription);
    loop.turn();
  }

  private void reconnect() {
    tell("connects anew");
    var left = session.end();
    loop.turn();
    store.forgetAsked();
    unacknowledged.clear();
    connection++;
    seen = 0;
    stillSweeps = 0;
    unread = false;
    client = new DrainedClient(loop, version);
    session = newSession();
    drain = client.drain(store, session);
    store.known();
    session.resume(subscription, chance(0.5) ? left : List.<Unacknowledged>of());
    loop.turn();
  }

  private DeviceSession newSession() {
    return aSession(DEVICE).epoch(connection + 1).window(window).at(client, shared);
  }

  private void acknowledge(int most) {
    if (subscription.qos() == QoS.AT_MOST_ONCE) {
      unacknowledged.clear();
      session.flushed();
    } else {
      for (var packetId : unacknowledged.keySet().stream().limit(most).toList()) {
        unacknowledged.remove(packetId);
        session.acknowledged(packetId, ReasonCode.SUCCESS);
        loop.turn();
        look();
      }
    }
    loop.turn();
  }

  private void sweepAfter(Duration passed) {
    passes(passed);
    stillSweeps++;
    session.swept(loop.nowNanos);
    drain.swept(loop.nowNanos);
    if (drain.isIdle()) {
      drain = client.drain(store, session);
      stillSweeps = 0;
    }
    loop.turn();
  }

  private void passes(Duration time) {
    clock.advance(time);
    loop.nowNanos += time.toNanos();
  }

  /// Checks the messages that the device was sent since the last check.
  private void look() {
    for (; seen < client.sent.size(); seen++) {
      var decoded =
          new PacketDecoder().decode(ByteBuffer.wrap(client.sent.get(seen)), version, LIMITS);
      if (decoded instanceof DecodeOutcome.Decoded(MqttPacket.Publish publish)) {
        published(publish);
      } else {
        violation("rubbish: " + decoded);
      }
    }
  }

  private void published(MqttPacket.Publish publish) {
    var message = messages.get(Integer.parseInt(publish.payload().utf8()) - 1);
    tell((publish.duplicate() ? "sent again " : "sent ") + message.number);
    if (publish.qos() != subscription.qos()) {
      violation(message.number + " came at " + publish.qos());
    }
    long left = publish.properties().number(PropertyId.MESSAGE_EXPIRY_INTERVAL, -1);
    long truly = Math.max(1, (message.expiresAtMillis - clock.millis()) / 1_000);
    if (version == MqttVersion.V5 ? left != truly : left != -1) {
      violation(message.number + " says that it lives for " + left);
    }
    if (message.expiresAtMillis < clock.millis()) {
      violation(message.number + " had expired");
    }
    if (publish.qos() == QoS.AT_LEAST_ONCE
        && unacknowledged.put(publish.packetId(), message) != null) {
      violation("packet id " + publish.packetId() + " is used for two unacknowledged messages");
    }
    if (unacknowledged.size() > window) {
      violation("more than a window");
    }
    boolean first = !message.received;
    message.received = true;
    if (first && !message.retried && !unread && stillSweeps < STILL_SWEEPS) {
      checkOrder(message);
    }
  }

  private void checkOrder(Message sent) {
    for (var older : messages.subList(0, sent.number - 1)) {
      if ((older.knownSince <= sent.thereSince || older.readBy == connection)
          && !older.received
          && !older.ended
          && older.expiresAtMillis > clock.millis()) {
        violation(sent.number + " passed " + older.number);
      }
    }
  }

  /// Repairs all faults and runs until no work is left.
  private void mend() {
    tell("all is mended");
    for (int round = 0; round < ROUNDS && !isDone(); round++) {
      while (!returned.isEmpty()) {
        passes(Duration.ofMillis(1));
        store.park(returned.remove());
      }
      nudge();
      while (store.isAsked()) {
        store.answer(false);
      }
      while (store.hasToTell()) {
        store.confirm(false);
      }
      look();
      acknowledge(window);
      look();
      sweepAfter(Duration.ofSeconds(1));
      look();
    }
    for (var message : messages) {
      if (!message.ended) {
        violation(message.number + " is lost" + (message.received ? " (got)" : ""));
      }
    }
    if (!isDone()) {
      violation("something is under way for ever");
    }
  }

  private boolean isDone() {
    return returned.isEmpty()
        && drain.isIdle()
        && store.isEmpty()
        && messages.stream().allMatch(message -> message.ended);
  }

  private boolean chance(double probability) {
    return random.nextDouble() < probability;
  }

  private void violation(String what) {
    violations.add(what);
    tell("VIOLATION: " + what);
  }

  private void tell(String what) {
    if (TOLD) {
      System.out.printf("%s %s%n", clock.instant(), what);
    }
  }

  /// MySQL and the broker as the node sees them: the life decides when an answer or a confirmation
  /// arrives.
  private final class Store implements ParkedMessages {
    private final Map<String, InboxRow> rows = new LinkedHashMap<>();
    private final List<InboxRow> lists = new ArrayList<>();
    private final Queue<Consumer<InboxPage>> asked = new ArrayDeque<>();
    private final Queue<Untold> untold = new ArrayDeque<>();
    private long position;

    private record Untold(InboxRow row, Then then) {}

    /// The newest message of a collapse key stays; a message that is already parked keeps its
    /// place.
    void park(Message message) {
      tell("parked " + message.number + (message.broadcast ? " in a list" : ""));
      message.retried = false;
      if (!isThere(message)) {
        message.thereSince = ++moment;
        message.knownSince = NEVER;
      }
      if (message.broadcast) {
        lists.add(row(message, lists.size() + 1L));
        return;
      }
      var before = rows.get(message.slot);
      if (before == null || before.message().compareTo(message.id()) < 0) {
        rows.remove(message.slot);
        rows.put(message.slot, row(message, 0));
        Optional.ofNullable(before).ifPresent(older -> message(older).ended = true);
      } else {
        message.ended |= !before.message().equals(message.id());
      }
    }

    private boolean isThere(Message message) {
      return Stream.concat(
              rows.values().stream(), lists.stream().filter(row -> row.seq() > position))
          .anyMatch(row -> row.message().equals(message.id()));
    }

    private InboxRow row(Message message, long seq) {
      return new InboxRow(
          DEVICE,
          message.slot,
          message.id(),
          message.payload(),
          message.expiresAtMillis,
          seq,
          seq,
          InboxRow.Fate.DUE);
    }

    private Message message(InboxRow row) {
      return messages.get(Integer.parseInt(row.payload().utf8()) - 1);
    }

    /// The node will read, and finds all messages that are parked by now.
    void known() {
      moment++;
      rows.values().forEach(row -> known(message(row)));
      lists.stream().filter(row -> row.seq() > position).forEach(row -> known(message(row)));
    }

    private void known(Message message) {
      if (message.knownSince == NEVER && !message.retried) {
        message.knownSince = moment;
      }
    }

    /// Requests of a connection that has ended need no answer.
    void forgetAsked() {
      asked.clear();
    }

    @Override
    public void read(DeviceKey device, Loop on, Consumer<InboxPage> then) {
      asked.add(then);
    }

    boolean isAsked() {
      return !asked.isEmpty();
    }

    void answer(boolean away) {
      var then = asked.poll();
      if (then == null) {
        return;
      }
      unread = away;
      tell(away ? "cannot be read" : "is read");
      if (away) {
        then.accept(new InboxPage.Unreadable());
      } else {
        stillSweeps = 0;
        then.accept(read());
      }
      loop.turn();
    }

    private InboxPage.Rows read() {
      long now = clock.millis();
      var own =
          rows.values().stream()
              .filter(row -> row.expiresAtMillis() > now)
              .sorted(Comparator.comparing(InboxRow::message))
              .toList();
      var broadcasts =
          lists.stream()
              .filter(row -> row.seq() > position)
              .map(row -> row.expiresAtMillis() > now ? row : row.with(InboxRow.Fate.EXPIRED))
              .toList();
      own.forEach(row -> message(row).readBy = connection);
      broadcasts.forEach(row -> message(row).readBy = connection);
      return new InboxPage.Rows(own.stream().limit(page).toList(), own.size() > page)
          .with(broadcasts);
    }

    @Override
    public void written(long tookNanos) {}

    @Override
    public void delivered(InboxRow row, @Nullable Instant lateAt, Then then) {
      ended(message(row), message(row).received);
      untold.add(new Untold(row, then));
    }

    @Override
    public void failed(InboxRow row, Settlement.Refused why, Then then) {
      violation(why.toString());
    }

    @Override
    public void over(InboxRow row, Then then) {
      tell(message(row).number + " is over: " + row.fate());
      switch (row.fate()) {
        case EXPIRED -> ended(message(row), row.expiresAtMillis() <= clock.millis());
        case COLLAPSED -> ended(message(row), hasNewer(message(row)));
        case REPEAT -> {}
        case DUE, CANCELLED -> violation(message(row).number + " is not over");
      }
      untold.add(new Untold(row, then));
    }

    private boolean hasNewer(Message message) {
      return messages.stream()
          .anyMatch(other -> other.slot.equals(message.slot) && other.number > message.number);
    }

    boolean hasToTell() {
      return !untold.isEmpty();
    }

    void confirm(boolean away) {
      var next = untold.poll();
      if (next == null) {
        return;
      }
      if (!away) {
        var row = next.row();
        if (row.isBroadcast()) {
          position = Math.max(position, row.position());
        } else if (rows.containsValue(row)) {
          rows.remove(row.slot());
        }
      }
      next.then().done(!away);
      loop.turn();
    }

    boolean isEmpty() {
      long now = clock.millis();
      // Other processes remove expired messages.
      rows.values().stream()
          .filter(row -> row.expiresAtMillis() <= now)
          .forEach(row -> message(row).ended = true);
      return untold.isEmpty()
          && rows.values().stream().allMatch(row -> row.expiresAtMillis() <= now)
          && position >= lists.size();
    }
  }
}
