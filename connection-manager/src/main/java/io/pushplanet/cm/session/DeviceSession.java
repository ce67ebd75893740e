package io.pushplanet.cm.session;

import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.QoS;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.link.Door;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.session.DetachedWindows.Unacknowledged;
import io.pushplanet.cm.session.SessionMetrics.Drop;
import io.pushplanet.cm.transport.Loop;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import io.pushplanet.common.wire.Refusal;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/// A connected device: its subscription, its [Window] of unacknowledged messages, and what waits for room in it.
/// Confined to its event loop, but for [#key], [#loop], [#epoch], [#passwordEnds], [#adoptEpoch], [#lose], [#deny], [#handOver], [#isLost], [#isDenied],
/// [#presume] and [#subscription].
///
/// A packet id names a message only on this connection and is not used again while its message is unacknowledged, however
/// long that takes. Nothing is sent twice on one connection: redelivery happens on reconnect only, with DUP.
///
/// A device that fills its window and acknowledges nothing is *unresponsive*: nothing waits for it any more and new messages
/// are answered at once, until it acknowledges again. So it holds a window of messages at most.
public final class DeviceSession {
  /// The only topic that devices receive on.
  public static final String TOPIC = "push/messages";

  // By the next sweep what nobody waits for any more is gone.
  private static final long SWEPT_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private static final byte OURS = 0;
  private static final byte ELSEWHERE = 1;
  private static final byte DENIED = 2;
  private static final byte ANOTHER_USERS = 3;

  // Every reference here is paid a million times.
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
  // One byte more would take eight.
  private volatile byte whose = OURS;
  private volatile boolean presumed;

  /// What all sessions of a node have in common.
  public record Shared(
      SessionLimits limits,
      SessionMetrics metrics,
      LateAcknowledgements late,
      InstantSource clock) {}

  /// The connection that a session belongs to. Called on the loop.
  public interface Owner {
    /// Always the same; from any thread.
    Link link();

    /// There may be something in the device's inbox.
    void askForParked();

    /// Whether a fresh message has to wait, because older ones may lie in the inbox.
    boolean isInboxAheadOf(MessageId fresh);

    /// The inbox's next message, to be sent at once; null when none is at hand, or the next is newer than the first that waits.
    @Nullable OutboundMessage nextParked(@Nullable MessageId fresh);

    /// The session is taken over on this node, before its socket has closed.
    void retire();
  }

  private record Leaving(ReasonCode reason, MqttProperties told, long latestNanos) {}

  /// @param passwordEnds in this second of the epoch
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
  }

  /// Made anew by each call: a session holds it in a smaller form.
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

  /// In this second of the epoch ends the password by which the device came.
  public long passwordEnds() {
    return passwordEnds;
  }

  public SessionTerms terms() {
    return terms;
  }

  /// Whether the device has said anything since CONNACK was sent: until then nobody knows that it came.
  public boolean isHeard() {
    return link().hasSpoken();
  }

  /// The device changed its mind about how long the session outlives the connection.
  public void expireAfter(long seconds) {
    terms = new SessionTerms(terms.window(), terms.largestPacket(), seconds);
  }

  public @Nullable Subscription subscription() {
    return subscription;
  }

  /// The directory knows this session under another epoch of this node.
  public void adoptEpoch(long known) {
    epoch = known;
  }

  /// Another node has the device. Takes effect at once: nothing more is delivered, and what the device says on this
  /// connection is not heard. The connection closes as soon as the loop comes to it.
  public void lose() {
    if (!isLost()) {
      whose = ELSEWHERE;
      loop().execute(this::fence);
    }
  }

  /// The device was deleted, or its MQTT channel switched off, since it was given its password. As [#lose], but nothing is left of the session.
  public void deny() {
    if (!isLost()) {
      whose = DENIED;
      loop().execute(this::shutOut);
    }
  }

  private void shutOut() {
    if (!gone) {
      shared.metrics().denied.increment();
      expireAfter(0);
      disconnect(
          ReasonCode.NOT_AUTHORIZED, "the device was deleted, or its MQTT channel switched off");
    }
  }

  /// The device has another user. As [#lose], but nothing is left of the session, and the socket closes without a word: to a DISCONNECT stock clients
  /// of MQTT 5 do not come again by themselves (seen with `mosquitto_sub`).
  public void handOver() {
    if (!isLost()) {
      whose = ANOTHER_USERS;
      loop().execute(this::beginAnew);
    }
  }

  private void beginAnew() {
    if (!gone) {
      shared.metrics().handedOver.increment();
      expireAfter(0);
      link().close();
      owner.retire();
    }
  }

  public boolean isLost() {
    return whose != OURS;
  }

  public boolean isDenied() {
    return whose == DENIED;
  }

  /// The directory knows of this session only by this node's word, which may be an old one: the device may have been
  /// elsewhere since.
  public void presume() {
    presumed = true;
  }

  /// The device has said something since.
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

  public Door door() {
    return link().door();
  }

  /// Whether [#leave] was called. From any thread.
  public boolean isLeaving() {
    return leaving != null;
  }

  /// Takes nothing new, and says goodbye once all it had is settled, after `patienceNanos` in any case.
  public void leave(ReasonCode reason, MqttProperties told, long patienceNanos) {
    if (gone || leaving != null) {
      return;
    }
    leaving = new Leaving(reason, told, loop().nowNanos() + patienceNanos);
    link().watch();
    if (!waiting.isEmpty() && owner.isInboxAheadOf(waiting.getFirst().id())) {
      // The inbox stays behind, and so does what waits behind it.
      settleWaiting(new Settlement.NotHere());
    }
    leaveWhenSettled();
  }

  private void leaveWhenSettled() {
    var going = leaving;
    if (going == null || gone) {
      return;
    }
    boolean settled = inFlight.isEmpty() && waiting.isEmpty();
    if (settled || loop().nowNanos() - going.latestNanos() >= 0) {
      link().disconnect(going.reason(), going.told());
      owner.retire();
    }
  }

  /// Asks for what is parked, and sends behind it what has come since the device connected.
  public void subscribe(Subscription wanted) {
    subscription = wanted;
    if (wanted.qos() == QoS.AT_MOST_ONCE) {
      link().teachesNothing();
    }
    askForParked();
    pump();
  }

  /// What was on its way stays so until acknowledged; what waits goes back.
  public void unsubscribe() {
    subscription = null;
    settleWaiting(new Settlement.NotSubscribed());
  }

  /// Goes on where an earlier connection of this session ended: sends what that left unacknowledged, under the same packet ids,
  /// with DUP, and only then what has come since, which takes ids that are free.
  ///
  /// @param former null when the session had none
  public void resume(@Nullable Subscription former, List<Unacknowledged> left) {
    subscription = former;
    redeliver(left);
    if (former != null) {
      subscribe(former);
    }
  }

  private void redeliver(List<Unacknowledged> left) {
    for (var old : left) {
      if (inFlight.size() >= terms.window()
          || shared.clock().millis() > old.publish().expiresAtMillis()) {
        continue;
      }
      write(InFlight.again(old, loop().nowNanos()));
      shared.metrics().redelivered.increment();
      if (gone) {
        // Its socket took no more.
        return;
      }
    }
  }

  /// Takes a message, or settles it at once.
  public void offer(OutboundMessage message) {
    if (gone || isLost() || isLeaving()) {
      tell(message, new Settlement.NotHere());
      return;
    }
    if (subscription == null && !mayStillSubscribe()) {
      tell(message, new Settlement.NotSubscribed());
      return;
    }
    if (isThereAlready(message)) {
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

  /// Whether anything of the inbox may be sent, now or once there is room.
  public boolean takesParked() {
    return !gone && !isLeaving() && !unresponsive && subscription != null;
  }

  /// The device acknowledged a packet. An id that is not in flight is ignored: a PUBACK may cross a takeover.
  public void acknowledged(int packetId, ReasonCode reason) {
    if (isLost()) {
      shared.metrics().refusedAcknowledgements.increment();
      return;
    }
    var sent = inFlight.take(packetId);
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

  /// At QoS 0 the kernel's taking it is all there is to know.
  public void flushed() {
    if (isLost() || inFlight.isEmpty()) {
      return;
    }
    // Whatever the subscription is by now: these were written at QoS 0.
    boolean some = false;
    for (var sent = inFlight.takeWithoutId(); sent != null; sent = inFlight.takeWithoutId()) {
      taken(sent, Settlement.DELIVERED, loop().nowNanos());
      some = true;
    }
    if (some) {
      goOn();
    }
  }

  /// Out of the window.
  private void taken(InFlight sent, Settlement settlement, long nowNanos) {
    inFlight = inFlight.orNone();
    shared.metrics().inFlight.decrementAndGet();
    sent.settle(settlement, key, shared, nowNanos);
  }

  /// The device responds, and there is room in its window.
  private void goOn() {
    respondsAgain();
    pump();
    leaveWhenSettled();
  }

  /// @return whether anything is under way that has to be looked at again
  public boolean swept(long nowNanos) {
    if (!isIdle()) {
      lookAfter(nowNanos);
    }
    return !isIdle();
  }

  private boolean isIdle() {
    return inFlight.isEmpty() && waiting.isEmpty() && leaving == null;
  }

  private void lookAfter(long nowNanos) {
    judgeResponse(nowNanos);
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
      var message = waiting.remove();
      if (message.isOverdue(nowNanos)) {
        waiting = waiting.orNone();
        tell(message, new Settlement.TimedOut());
      } else {
        waiting = waiting.with(message);
      }
    }
    pump();
  }

  /// Messages that no network carries any more pile up until the keep-alive is over, which may be half an hour. A device that
  /// is merely slow still pings, or sends anything else.
  private boolean isPathDead(long nowNanos) {
    long patience = shared.limits().deadPathAfter().toNanos();
    if (patience == 0) {
      return false;
    }
    var unheard = inFlight.unheard(patience, nowNanos, link());
    if (unheard == null) {
      return false;
    }
    link().pathDied(unheard.sentNanos);
    return true;
  }

  /// The connection ended. Returns what is unacknowledged, for the device's next connection to this node.
  public List<Unacknowledged> end() {
    gone = true;
    if (unresponsive) {
      shared.metrics().unresponsiveNow.decrementAndGet();
    }
    var left = inFlight.unacknowledged();
    long now = loop().nowNanos();
    for (var sent : inFlight) {
      sent.settle(new Settlement.NotHere(), key, shared, now);
    }
    shared.metrics().inFlight.addAndGet(-inFlight.size());
    inFlight = Window.empty();
    settleWaiting(new Settlement.NotHere());
    return left;
  }

  /// Somebody else has the device: closes, and accepts nothing from it any more.
  public void fence() {
    shared.metrics().fenced.increment();
    disconnect(ReasonCode.SESSION_TAKEN_OVER, "the device connected again");
  }

  /// Says goodbye and ends the session at once, before its socket has lingered out.
  public void disconnect(ReasonCode reason, String why) {
    link().disconnect(reason, why);
    owner.retire();
  }

  private void judgeResponse(long nowNanos) {
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

  /// Settles a message that the device has, or will once it has acknowledged what is under way.
  private boolean isThereAlready(OutboundMessage message) {
    var same = inFlight.find(message.id());
    if (same != null) {
      same.carry(message, shared.metrics());
      return true;
    }
    var lateAt = shared.late().find(key, message.id());
    if (lateAt != null) {
      tell(message, new Settlement.Delivered(lateAt));
      return true;
    }
    return false;
  }

  /// Sends what there is room for: of what is parked and what waits the older first.
  public void pump() {
    while (subscription instanceof Subscription current && maySend()) {
      var message = next();
      if (message == null) {
        return;
      }
      if (!isThereAlready(message)) {
        send(message, current);
      }
    }
  }

  private @Nullable OutboundMessage next() {
    var fresh = waiting.isEmpty() ? null : waiting.getFirst().id();
    var parked = takesParked() ? owner.nextParked(fresh) : null;
    if (parked != null || fresh == null || owner.isInboxAheadOf(fresh)) {
      return parked;
    }
    var message = waiting.remove();
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
      // This loop stood still; its gateway has taken it elsewhere. Not sooner: one whose clock is
      // behind seems to wait for nothing.
      tell(message, new Settlement.TimedOut());
      return;
    }
    int packetId = by.qos() == QoS.AT_MOST_ONCE ? 0 : nextPacketId();
    if (write(InFlight.first(packetId, now, message))) {
      message.origin().written();
    }
  }

  /// @return whether it is on its way
  private boolean write(InFlight sent) {
    var current = subscription;
    var shape =
        Subscription.of(
            sent.packetId == 0 ? QoS.AT_MOST_ONCE : QoS.AT_LEAST_ONCE,
            current == null ? 0 : current.identifier());
    var packet =
        sent.publish.encodedFor(link(), shape, sent.packetId, sent.isAgain(), shared.clock().millis());
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
