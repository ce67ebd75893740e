package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.mqtt.link.ListenerKind;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.cm.session.SessionMetrics.Drop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.Refusal;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongToIntFunction;
import org.jspecify.annotations.Nullable;

/// A connected device: its subscription, its [Window] of unacknowledged messages, and the messages
/// that wait for room in the window. Confined to its event loop, except [#key], [#loop], [#epoch],
/// [#passwordEnds], [#adoptEpoch], [#lose], [#deny], [#handOver], [#isLost], [#isDenied],
/// [#presume] and [#subscription].
///
/// A packet id names a message only on this connection, and is not reused while its message is
/// unacknowledged, however long that takes. Each session begins at an id of its own, because a
/// client that acknowledges by hand may send the PUBACK of an earlier connection's message on this
/// one. No message is sent twice on one connection: redelivery happens only on reconnect, with DUP,
/// also if another node has sent the message ([Repeats]).
///
/// A device that fills its window and acknowledges nothing is *unresponsive*: until it acknowledges
/// again, no message waits for it and new messages are answered at once. So such a device holds at
/// most one window of messages.
public final class DeviceSession {
  /// The only topic that devices receive on.
  public static final String TOPIC = "push/messages";

  /// Deadlines are only checked by the sweep, once a second.
  private static final long SWEPT_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final long REPEATS_COME_WITHIN_NANOS = TimeUnit.MINUTES.toNanos(1);

  private static final byte OURS = 0;
  private static final byte ELSEWHERE = 1;
  private static final byte DENIED = 2;
  private static final byte ANOTHER_USERS = 3;

  // A node has a million sessions, so every field here counts a million times.
  private final HeldKey key;
  private final Owner owner;
  private final Shared shared;
  private SessionTerms terms;
  private Window inFlight = Window.empty();
  private Backlog<OutboundMessage> waiting = Backlog.none();
  private final long passwordEnds;
  private final long connectedNanos;
  private volatile long epoch;
  private volatile @Nullable Subscription subscription;
  private int lastPacketId;
  private boolean gone;
  private volatile @Nullable Leaving leaving;
  private boolean unresponsive;
  // Another field of one byte would add eight bytes to each session.
  private volatile byte ownership = OURS;
  private volatile boolean presumed;

  /// What all sessions of a node have in common.
  ///
  /// @param packetIdBefore of a session's epoch: the packet id, from 0 to 65,534, after which the
  ///     session begins
  public record Shared(
      SessionLimits limits,
      SessionMetrics metrics,
      LateAcknowledgements late,
      Repeats repeats,
      InstantSource clock,
      LongToIntFunction packetIdBefore) {
    public Shared(
        SessionLimits limits,
        SessionMetrics metrics,
        LateAcknowledgements late,
        InstantSource clock) {
      this(limits, metrics, late, new Repeats(), clock, DeviceSession::packetIdBefore);
    }
  }

  /// The connection that a session belongs to. Called on the loop.
  public interface Owner {
    /// Always returns the same link; from any thread.
    Link link();

    /// The device's inbox may have messages.
    void askForParked();

    /// Whether a fresh message has to wait, because older ones may lie in the inbox.
    boolean isInboxAheadOf(MessageId fresh);

    /// Returns the inbox's next message, which must be sent at once. Null when the inbox has none
    /// ready, or when its next message is newer than the first waiting one.
    @Nullable OutboundMessage nextParked(@Nullable MessageId fresh);

    /// The session ended on this node before its socket closed.
    void retire();
  }

  private record Leaving(ReasonCode reason, MqttProperties told, long latestNanos) {}

  /// @param passwordEnds the second of the epoch in which the password ends
  public DeviceSession(
      DeviceKey key,
      long epoch,
      long passwordEnds,
      SessionTerms terms,
      Shared shared,
      Owner owner) {
    this.key = HeldKey.of(key);
    this.epoch = epoch;
    this.passwordEnds = passwordEnds;
    this.terms = terms;
    this.shared = shared;
    this.owner = owner;
    this.connectedNanos = loop().nowNanos();
    this.lastPacketId = shared.packetIdBefore().applyAsInt(epoch);
  }

  /// By a hash, so that the ids of two sessions with full windows of 16 meet once in some two
  /// thousand pairs.
  private static int packetIdBefore(long epoch) {
    return new SplittableRandom(epoch).nextInt(Window.LAST_PACKET_ID);
  }

  /// Makes a new key on each call; the session holds the key in a smaller form.
  public DeviceKey key() {
    return key.device();
  }

  HeldKey heldKey() {
    return key;
  }

  private Link link() {
    return owner.link();
  }

  public Loop loop() {
    return link().loop();
  }

  public long epoch() {
    return epoch;
  }

  /// The second of the epoch in which the password ends that the device connected with.
  public long passwordEnds() {
    return passwordEnds;
  }

  public SessionTerms terms() {
    return terms;
  }

  /// Whether the device has sent anything since CONNACK. Until then CONNACK may not have reached
  /// it.
  public boolean isHeard() {
    return link().hasSpoken();
  }

  /// The device changed how long the session outlives the connection.
  public void expireAfter(long seconds) {
    terms = new SessionTerms(terms.window(), terms.largestPacket(), seconds);
  }

  public @Nullable Subscription subscription() {
    return subscription;
  }

  /// The directory has this session under another epoch of this node.
  public void adoptEpoch(long known) {
    epoch = known;
  }

  /// Another node has the device. From now on no message is delivered, and packets that arrive on
  /// this connection are ignored. The loop closes the connection in its next turn.
  public void lose() {
    if (!isLost()) {
      ownership = ELSEWHERE;
      loop().execute(this::fence);
    }
  }

  /// The device was deleted, or its MQTT channel was switched off, after it got its password. As
  /// [#lose], but no state of the session is kept.
  public void deny() {
    if (!isLost()) {
      ownership = DENIED;
      loop().execute(this::closeDenied);
    }
  }

  private void closeDenied() {
    if (!gone) {
      shared.metrics().denied.increment();
      expireAfter(0);
      disconnect(
          ReasonCode.NOT_AUTHORIZED, "the device was deleted, or its MQTT channel switched off");
    }
  }

  /// The device has another user. As [#lose], but no state of the session is kept, and the socket
  /// closes without a DISCONNECT: stock MQTT 5 clients do not reconnect by themselves after one
  /// (seen with `mosquitto_sub`).
  public void handOver() {
    if (!isLost()) {
      ownership = ANOTHER_USERS;
      loop().execute(this::closeForNewUser);
    }
  }

  private void closeForNewUser() {
    if (!gone) {
      shared.metrics().handedOver.increment();
      expireAfter(0);
      link().close();
      owner.retire();
    }
  }

  public boolean isLost() {
    return ownership != OURS;
  }

  public boolean isDenied() {
    return ownership == DENIED;
  }

  /// The directory knows this session only from this node, whose information may be outdated: the
  /// device may have been connected to another node since.
  public void presume() {
    presumed = true;
  }

  /// The device has sent a packet since [#presume].
  public void prove() {
    presumed = false;
  }

  public boolean isPresumed() {
    return presumed;
  }

  public void askForParked() {
    owner.askForParked();
  }

  public boolean isGone() {
    return gone;
  }

  public ListenerKind listenerKind() {
    return link().listenerKind();
  }

  /// Whether [#leave] was called. From any thread.
  public boolean isLeaving() {
    return leaving != null;
  }

  /// Accepts no new messages, and disconnects once all messages are settled, at the latest after
  /// `patienceNanos`.
  public void leave(ReasonCode reason, MqttProperties told, long patienceNanos) {
    if (gone || leaving != null) {
      return;
    }
    leaving = new Leaving(reason, told, loop().nowNanos() + patienceNanos);
    link().watch();
    if (!waiting.isEmpty() && owner.isInboxAheadOf(waiting.getFirst().id())) {
      // The inbox is not drained any more, so the messages that wait for it are given back.
      settleWaiting(new Settlement.NotHere());
    }
    leaveWhenSettled();
  }

  private void leaveWhenSettled() {
    Leaving going = leaving;
    if (going == null || gone) {
      return;
    }
    boolean settled = inFlight.isEmpty() && waiting.isEmpty();
    if (settled || loop().nowNanos() - going.latestNanos() >= 0) {
      link().disconnect(going.reason(), going.told());
      owner.retire();
    }
  }

  /// Asks for parked messages, and after them sends those that have arrived since the device
  /// connected.
  public void subscribe(Subscription wanted) {
    subscription = wanted;
    if (wanted.qos() == QoS.AT_MOST_ONCE) {
      link().teachesNothing();
    }
    askForParked();
    pump();
  }

  /// Messages in flight stay there until they are acknowledged; waiting messages are given back.
  public void unsubscribe() {
    subscription = null;
    settleWaiting(new Settlement.NotSubscribed());
  }

  /// Continues an earlier connection of this session: sends its unacknowledged messages again under
  /// their packet ids, with DUP, and then the messages that have arrived since, under free ids.
  ///
  /// @param former null when the session had no subscription
  public void resume(@Nullable Subscription former, List<Unacknowledged> left) {
    subscription = former;
    redeliver(left);
    if (former != null) {
      subscribe(former);
    }
  }

  /// The device may have received these messages on its last connection, to another node.
  ///
  /// @param known messages that this node sends again itself
  public void expectRepeats(List<MessageId> messages, List<Unacknowledged> known) {
    if (!messages.isEmpty()) {
      var others = new HashSet<>(messages);
      known.forEach(sent -> others.remove(sent.publish().id()));
      shared.repeats().expect(key, others);
    }
  }

  /// The gateway sends again what the window has no room for now.
  private void redeliver(List<Unacknowledged> left) {
    for (Unacknowledged old : left) {
      if (shared.clock().millis() > old.publish().expiresAtMillis()) {
        continue;
      }
      if (inFlight.size() >= terms.window()) {
        shared.repeats().expect(key, List.of(old.publish().id()));
        continue;
      }
      if (write(InFlight.again(old, loop().nowNanos()))) {
        shared.metrics().redelivered.increment();
      }
      if (gone) {
        // The socket has failed.
        return;
      }
    }
  }

  /// Sends the message, lets it wait, or settles it at once.
  public void offer(OutboundMessage message) {
    if (gone || isLost() || isLeaving()) {
      tell(message, new Settlement.NotHere());
      return;
    }
    if (subscription == null && !mayStillSubscribe()) {
      tell(message, new Settlement.NotSubscribed());
      return;
    }
    if (settleIfThere(message)) {
      return;
    }
    if (unresponsive) {
      tell(message, new Settlement.TimedOut());
      return;
    }
    if (waiting.size() >= shared.limits().waiting()) {
      shared.metrics().dropped(Drop.QUEUE_FULL);
      tell(message, new Settlement.Refused(Refusal.QUEUE_FULL, null));
      return;
    }
    if (waiting.isEmpty()
        && !owner.isInboxAheadOf(message.id())
        && subscription instanceof Subscription current
        && maySend()) {
      send(message, current);
      return;
    }
    waiting = waiting.with(message);
    link().watch();
    pump();
  }

  /// Whether messages from the inbox may be sent, now or once there is room.
  public boolean takesParked() {
    return !gone && !isLeaving() && !unresponsive && subscription != null;
  }

  /// The device acknowledged a packet. An id that is not in flight is ignored, because a PUBACK may
  /// cross a takeover.
  public void acknowledged(int packetId, ReasonCode reason) {
    if (isLost()) {
      shared.metrics().refusedAcknowledgements.increment();
      return;
    }
    InFlight sent = inFlight.take(packetId);
    if (sent == null) {
      return;
    }
    long now = loop().nowNanos();
    shared.metrics().acknowledged.record(now - sent.sentNanos, TimeUnit.NANOSECONDS);
    if (reason.isFailure()) {
      shared.metrics().dropped(Drop.REFUSED_BY_DEVICE);
    }
    taken(
        sent,
        reason.isFailure()
            ? new Settlement.Refused(Refusal.BY_DEVICE, "the device answered " + reason)
            : Settlement.DELIVERED,
        now);
    goOn();
  }

  /// The kernel has taken all bytes. At QoS 0 there is no better acknowledgement.
  public void flushed() {
    if (isLost() || inFlight.isEmpty()) {
      return;
    }
    // The subscription may have changed; these messages were written at QoS 0.
    boolean some = false;
    for (InFlight sent = inFlight.takeWithoutId(); sent != null; sent = inFlight.takeWithoutId()) {
      taken(sent, Settlement.DELIVERED, loop().nowNanos());
      some = true;
    }
    if (some) {
      goOn();
    }
  }

  private void taken(InFlight sent, Settlement settlement, long nowNanos) {
    inFlight = inFlight.orNone();
    shared.metrics().inFlight.decrementAndGet();
    sent.settle(settlement, key, shared, nowNanos);
  }

  /// The device responds, and its window has room.
  private void goOn() {
    respondsAgain();
    pump();
    leaveWhenSettled();
  }

  /// @return whether the session must be swept again in a second
  public boolean swept(long nowNanos) {
    if (!isIdle()) {
      sweepActive(nowNanos);
    }
    return !isIdle();
  }

  private boolean isIdle() {
    return inFlight.isEmpty() && waiting.isEmpty() && leaving == null;
  }

  private void sweepActive(long nowNanos) {
    checkResponsive(nowNanos);
    leaveWhenSettled();
    if (isPathDead(nowNanos)) {
      shared.metrics().deadPaths.increment();
      disconnect(ReasonCode.KEEP_ALIVE_TIMEOUT, "nothing came after a message was sent");
      return;
    }
    inFlight.timeOut(nowNanos, shared.metrics());
    if (waiting.isEmpty()) {
      return;
    }
    if (subscription == null && !mayStillSubscribe()) {
      settleWaiting(new Settlement.NotSubscribed());
      return;
    }
    for (int left = waiting.size(); left > 0; left--) {
      OutboundMessage message = waiting.remove();
      if (message.isOverdue(nowNanos)) {
        waiting = waiting.orNone();
        tell(message, new Settlement.TimedOut());
      } else {
        waiting = waiting.with(message);
      }
    }
    pump();
  }

  /// Without this check, messages would pile up on a broken network path until the keep-alive ends,
  /// which may be half an hour. A device that is only slow still pings or sends other packets.
  private boolean isPathDead(long nowNanos) {
    long patience = shared.limits().deadPathAfter().toNanos();
    if (patience == 0) {
      return false;
    }
    InFlight unheard = inFlight.unheard(patience, nowNanos, link());
    if (unheard == null) {
      return false;
    }
    link().pathDied(unheard.sentNanos);
    return true;
  }

  /// The kernel has given the connection up; [#end] follows.
  public void pathDied() {
    if (!gone) {
      shared.metrics().deadPaths.increment();
    }
  }

  /// The connection ended. Returns the unacknowledged messages for the device's next connection to
  /// this node.
  public List<Unacknowledged> end() {
    gone = true;
    if (unresponsive) {
      shared.metrics().unresponsiveNow.decrementAndGet();
    }
    List<Unacknowledged> left = inFlight.unacknowledged();
    long now = loop().nowNanos();
    for (InFlight sent : inFlight) {
      sent.settle(new Settlement.NotHere(), key, shared, now);
    }
    shared.metrics().inFlight.addAndGet(-inFlight.size());
    inFlight = Window.empty();
    settleWaiting(new Settlement.NotHere());
    return left;
  }

  /// The messages that the device may have received and has not acknowledged. Called once, after
  /// [#end]. Messages of earlier connections that have not come here within a minute took another
  /// way or have expired.
  ///
  /// @param left what [#end] returned
  public List<MessageId> mayHaveReceived(List<Unacknowledged> left) {
    Set<MessageId> expected = shared.repeats().removeAll(key);
    boolean mayCome = loop().nowNanos() - connectedNanos < REPEATS_COME_WITHIN_NANOS;
    if (left.isEmpty() && (expected.isEmpty() || !mayCome)) {
      return List.of();
    }
    var messages = new ArrayList<MessageId>();
    left.forEach(sent -> messages.add(sent.publish().id()));
    if (mayCome) {
      messages.addAll(expected);
    }
    return messages;
  }

  /// Another session has the device: closes this one, and accepts nothing more from it.
  public void fence() {
    if (gone) {
      return;
    }
    shared.metrics().fenced.increment();
    disconnect(ReasonCode.SESSION_TAKEN_OVER, "the device connected again");
  }

  /// Sends DISCONNECT and ends the session at once, before its socket has finished lingering.
  public void disconnect(ReasonCode reason, String why) {
    link().disconnect(reason, why);
    owner.retire();
  }

  private void checkResponsive(long nowNanos) {
    if (unresponsive
        || inFlight.size() < terms.window()
        || !inFlight.isOlderThan(shared.limits().acknowledgeWithin().toNanos(), nowNanos)) {
      return;
    }
    unresponsive = true;
    shared.metrics().unresponsive.increment();
    shared.metrics().unresponsiveNow.incrementAndGet();
    settleWaiting(new Settlement.TimedOut());
  }

  private void respondsAgain() {
    if (unresponsive) {
      unresponsive = false;
      shared.metrics().unresponsiveNow.decrementAndGet();
      askForParked();
    }
  }

  private boolean mayStillSubscribe() {
    return loop().nowNanos() - connectedNanos < shared.limits().holdUntilSubscribed().toNanos();
  }

  /// Settles a message that the device has already, or will have once it acknowledges the messages
  /// in flight.
  ///
  /// @return whether it is such a message
  private boolean settleIfThere(OutboundMessage message) {
    InFlight same = inFlight.find(message.id());
    if (same != null) {
      same.carry(message, shared.metrics());
      return true;
    }
    Instant lateAt = shared.late().find(key, message.id());
    if (lateAt != null) {
      tell(message, new Settlement.Delivered(lateAt));
      return true;
    }
    return false;
  }

  /// Fills the window with parked and waiting messages, the older ones first.
  public void pump() {
    while (subscription instanceof Subscription current && maySend()) {
      OutboundMessage message = next();
      if (message == null) {
        return;
      }
      if (!settleIfThere(message)) {
        send(message, current);
      }
    }
  }

  private @Nullable OutboundMessage next() {
    MessageId fresh = waiting.isEmpty() ? null : waiting.getFirst().id();
    OutboundMessage parked = takesParked() ? owner.nextParked(fresh) : null;
    if (parked != null || fresh == null || owner.isInboxAheadOf(fresh)) {
      return parked;
    }
    OutboundMessage message = waiting.remove();
    waiting = waiting.orNone();
    return message;
  }

  private boolean maySend() {
    return !gone && !isLost() && inFlight.size() < terms.window() && link().isOpen();
  }

  private void send(OutboundMessage message, Subscription by) {
    if (shared.clock().millis() >= message.expiresAtMillis()) {
      tell(message, new Settlement.Expired());
      return;
    }
    long now = loop().nowNanos();
    if (message.isOverdue(now - SWEPT_WITHIN_NANOS)) {
      // This loop stood still, and the gateway has sent the message another way. The second's
      // allowance is for a gateway whose clock is behind, which seems not to wait at all.
      tell(message, new Settlement.TimedOut());
      return;
    }
    int packetId = by.qos() == QoS.AT_MOST_ONCE ? 0 : nextPacketId();
    boolean repeat = packetId != 0 && shared.repeats().remove(key, message.id());
    // A socket that closes within the write has settled the message.
    if (write(InFlight.first(packetId, now, message, repeat)) && !gone) {
      message.origin().written();
      if (repeat) {
        shared.metrics().redelivered.increment();
      }
    }
  }

  /// @return whether the message is in flight
  private boolean write(InFlight sent) {
    Subscription current = subscription;
    var shape =
        Subscription.of(
            sent.packetId == 0 ? QoS.AT_MOST_ONCE : QoS.AT_LEAST_ONCE,
            current == null ? 0 : current.identifier());
    byte[] packet =
        sent.publish.encodedFor(
            link(), shape, sent.packetId, sent.isRepeat(), shared.clock().millis());
    if (packet.length > terms.largestPacket()) {
      shared.metrics().dropped(Drop.TOO_LONG);
      sent.settle(
          new Settlement.Refused(Refusal.TOO_LONG, "longer than the device's Maximum Packet Size"),
          key,
          shared,
          sent.sentNanos);
      return false;
    }
    inFlight = inFlight.with(sent);
    shared.metrics().inFlight.incrementAndGet();
    shared.metrics().published.increment();
    link().sendEncoded(packet);
    return true;
  }

  private void tell(OutboundMessage message, Settlement settlement) {
    message.settle(settlement, shared.metrics());
  }

  private void settleWaiting(Settlement settlement) {
    OutboundMessage message;
    while ((message = waiting.poll()) != null) {
      waiting = waiting.orNone();
      tell(message, settlement);
    }
  }

  private int nextPacketId() {
    lastPacketId = inFlight.packetIdAfter(lastPacketId);
    return lastPacketId;
  }
}
