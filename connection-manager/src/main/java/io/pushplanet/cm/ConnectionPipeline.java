package io.pushplanet.cm;

import io.pushplanet.cm.admission.AdmissionMetrics;
import io.pushplanet.cm.directory.Directory.FormerSession;
import io.pushplanet.cm.directory.Directory.RememberedSession;
import io.pushplanet.cm.directory.Registrar;
import io.pushplanet.cm.directory.Registrar.Claim;
import io.pushplanet.cm.handshake.HandshakeOutcome.Welcome;
import io.pushplanet.cm.inbox.InboxDrain;
import io.pushplanet.cm.inbox.ParkedMessages;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.Will;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.Link;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.cm.session.DetachedWindows;
import io.pushplanet.cm.session.DeviceSession;
import io.pushplanet.cm.session.OutboundMessage;
import io.pushplanet.cm.session.SessionTable;
import io.pushplanet.cm.session.SessionTerms;
import io.pushplanet.cm.transport.gate.Rate;
import io.pushplanet.cm.uplink.DelayedWills;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.session.DeviceKey;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The story of a device's connection, from top to bottom:
///
/// 1. A socket is accepted and CONNECT arrives. [Reception] decides whether the device may connect.
/// 2. An older connection of the same device on this node is closed, after [#EVICTION_AFTER].
///    [Registrar] claims the device in the directory, which knows whether the device was deleted
///    after it got its password, and waits until the former node has let the device go.
/// 3. The session is put into the [SessionTable], CONNACK is sent, and messages that the last
///    connection left unacknowledged are sent again.
/// 4. The device subscribes to `push/messages` ([Subscriptions]), and its inbox is drained
///    ([InboxDrain]).
/// 5. Gateways' frames are offered to the session (package `delivery`), and the device's PUBACKs
///    settle them.
/// 6. Receipts and uplinks become events ([InboundFlow]) and are acknowledged once the broker has
///    confirmed them.
/// 7. The connection ends: the will is published, unless the device was deleted, and the directory
///    is told.
///
/// Thread-safe. All work for one connection happens on its event loop.
public final class ConnectionPipeline {
  /// How long a connection waits before it evicts another one of its device from this node. Where
  /// the line before the listener was full and a client gave up, TCP sends its CONNECT and the end
  /// of its connection again, one after the other: the node learns that the client has gone one
  /// round trip after the CONNECT.
  static final Duration EVICTION_AFTER = Duration.ofMillis(250);

  private final Reception reception;
  private final Registrar registrar;
  private final SessionTable sessions;
  private final DetachedWindows detached;
  private final DeviceSession.Shared sessionShared;
  private final ParkedMessages inbox;
  private final InboundFlow.Shared inboundShared;
  private final AdmissionMetrics admissionMetrics;
  private final Subscriptions subscriptions;
  private final DelayedWills wills;
  private final PacketLimits limits;

  /// @param limits for the packets that a device sends
  public ConnectionPipeline(
      Reception reception,
      Registrar registrar,
      SessionTable sessions,
      DetachedWindows detached,
      DeviceSession.Shared sessionShared,
      ParkedMessages inbox,
      InboundFlow.Shared inboundShared,
      DelayedWills wills,
      PacketLimits limits) {
    this.reception = reception;
    this.registrar = registrar;
    this.sessions = sessions;
    this.detached = detached;
    this.sessionShared = sessionShared;
    this.inbox = inbox;
    this.inboundShared = inboundShared;
    this.admissionMetrics = inboundShared.admissionMetrics();
    this.subscriptions = new Subscriptions(registrar, admissionMetrics);
    this.wills = wills;
    this.limits = limits;
  }

  /// Makes the peer for a new link.
  public MqttPeer accepted(Link link) {
    return new Device(link);
  }

  /// Drains the device's inbox, which is not empty, if the device is connected to this node.
  public void drain(DeviceKey device) {
    DeviceSession session = sessions.find(device);
    if (session != null) {
      session.loop().execute(session::askForParked);
    }
  }

  /// One device's connection. Confined to its event loop, except [#claim], which the loop of the
  /// device's older connection may run.
  private final class Device implements MqttPeer, DeviceSession.Owner {
    private final Link link;
    // The other parts exist only while they are needed; almost every device needs none of them.
    private @Nullable DeviceSession session;
    private @Nullable InboundFlow inbound;
    private @Nullable InboxDrain drain;
    private @Nullable Will will;

    Device(Link link) {
      this.link = link;
    }

    @Override
    public Link link() {
      return link;
    }

    @Override
    public void packet(MqttPacket packet) {
      DeviceSession current = session;
      if (current == null) {
        first(packet);
        return;
      }
      if (current.isLost() && !(packet instanceof MqttPacket.PubAck)) {
        // The device's new node hears it: the device repeats there what is not answered here.
        return;
      }
      switch (packet) {
        case MqttPacket.PubAck(int packetId, ReasonCode reason, _) ->
            current.acknowledged(packetId, reason);
        case MqttPacket.Publish publish -> {
          registrar.heard(current);
          published(current, publish);
        }
        case MqttPacket.Subscribe subscribe -> {
          registrar.heard(current);
          subscriptions.subscribe(link, current, subscribe);
        }
        case MqttPacket.Unsubscribe unsubscribe -> {
          registrar.heard(current);
          subscriptions.unsubscribe(link, current, unsubscribe);
        }
        case MqttPacket.PingReq() -> {
          registrar.heard(current);
          link.send(new MqttPacket.PingResp());
        }
        case MqttPacket.Disconnect disconnect -> disconnect(current, disconnect);
        case MqttPacket.Connect _ -> violation(ReasonCode.PROTOCOL_ERROR, "a second CONNECT");
        case MqttPacket.Auth _ ->
            violation(ReasonCode.PROTOCOL_ERROR, "no authentication method was agreed on");
        case MqttPacket.PubRec _, MqttPacket.PubRel _, MqttPacket.PubComp _ ->
            violation(ReasonCode.PROTOCOL_ERROR, "QoS 2 is not spoken here");
        case MqttPacket.ConnAck _,
            MqttPacket.SubAck _,
            MqttPacket.UnsubAck _,
            MqttPacket.PingResp _ ->
            violation(ReasonCode.PROTOCOL_ERROR, "only a server may send this");
      }
    }

    // 1. CONNECT

    private void first(MqttPacket packet) {
      // The decoder accepts nothing but CONNECT as the first packet, and reading pauses until
      // CONNECT is answered.
      if (!(packet instanceof MqttPacket.Connect connect)) {
        return;
      }
      Welcome known = reception.receive(link, connect);
      if (known != null) {
        takeOver(known);
      }
    }

    // 2. The takeover: first from an older connection here, then in the directory

    private void takeOver(Welcome known) {
      // In a storm a CONNECT may wait in the kernel for seconds, until its client has given up and
      // connected again: a dead connection must not take the device from a living one.
      link.closeIfPeerLeft();
      if (!link.isOpen()) {
        return;
      }
      long beganNanos = link.loop().nowNanos();
      link.pauseReading();
      if (toEvict(known) == null) {
        claim(known, beganNanos);
      } else {
        link.loop().executeAfter(EVICTION_AFTER, () -> evict(known, beganNanos));
      }
    }

    private void evict(Welcome known, long beganNanos) {
      link.closeIfPeerLeft();
      if (!link.isOpen()) {
        return;
      }
      DeviceSession before = toEvict(known);
      if (before == null) {
        claim(known, beganNanos);
        return;
      }
      before
          .loop()
          .execute(() -> {
            before.disconnect(ReasonCode.SESSION_TAKEN_OVER, "the device connected again");
            claim(known, beganNanos);
          });
    }

    /// The device's connection here that this one takes the place of. An older password may have
    /// been revoked, so a connection with it must not evict the current one.
    private @Nullable DeviceSession toEvict(Welcome known) {
      DeviceSession before = sessions.find(known.device());
      return before == null || before.passwordEnds() > known.passwordEnds() ? null : before;
    }

    private void claim(Welcome known, long beganNanos) {
      boolean inLine =
          registrar.claim(
              known.device(),
              former(known),
              known.passwordEnds(),
              link.loop(),
              claim -> {
                switch (claim) {
                  case Claim.Taken taken -> established(known, taken, beganNanos);
                  case Claim.Denied() -> reception.denied(link, known);
                  case Claim.TooLate() -> reception.crowded(link, known.connect());
                }
              });
      if (!inLine) {
        link.loop().execute(() -> reception.crowded(link, known.connect()));
      }
    }

    private static FormerSession former(Welcome known) {
      if (known.connect().cleanStart()) {
        return FormerSession.FORGET;
      }
      return known.terms().isPersistent() ? FormerSession.RESUME : FormerSession.RESUME_ONCE;
    }

    // 3. CONNACK

    private void established(Welcome known, Claim.Taken claim, long beganNanos) {
      link.closeIfPeerLeft();
      if (!link.isOpen()) {
        registrar.abandon(
            known.device(), claim, known.terms().expirySeconds(), known.passwordEnds());
        return;
      }
      var made =
          new DeviceSession(
              known.device(),
              claim.epoch(),
              known.passwordEnds(),
              known.terms(),
              sessionShared,
              this);
      link.accept(known.connect().version(), limits, known.keepAlive(), known.explains());
      DeviceSession loser = sessions.put(made);
      boolean newest = registrar.arrived(known.device(), claim.epoch());
      if (loser == made || !newest) {
        if (loser != null && loser != made) {
          loser.loop().execute(loser::fence);
        }
        sessions.remove(made);
        // A frame may have found the session in the table already.
        made.end();
        registrar.outrun(
            known.device(), claim, known.terms().expirySeconds(), known.passwordEnds());
        reception.outrun(link, known.connect());
        return;
      }
      RememberedSession remembered = claim.remembered().orElse(null);
      session = made;
      will = known.connect().will();
      wills.cameBack(known.device(), known.connect().cleanStart());
      sessionShared.metrics().established(link.loop().nowNanos() - beganNanos);
      link.send(new MqttPacket.ConnAck(remembered != null, 0, reception.welcome(known)));
      if (loser == null) {
        resume(made, known.device(), remembered);
        return;
      }
      // Two connections of this device were claimed at the same time. The older one's window is
      // taken over after the older one is closed.
      loser
          .loop()
          .execute(() -> {
            loser.fence();
            link.loop().execute(() -> resume(made, known.device(), remembered));
          });
    }

    private void resume(
        DeviceSession made, DeviceKey device, @Nullable RememberedSession remembered) {
      if (made.isGone()) {
        return;
      }
      List<DetachedWindows.Unacknowledged> left =
          detached.take(device, remembered == null ? 0 : remembered.epoch());
      if (remembered != null) {
        made.expectRepeats(remembered.unacknowledged(), left);
        made.resume(remembered.subscription(), left);
      }
      Rate rate = inboundShared.rates().of(device);
      if (rate.waitNanos(link.loop().nowNanos()) == 0) {
        link.resumeReading();
        return;
      }
      // Otherwise every new connection of the device could send one more packet.
      inbound = new InboundFlow(link, inboundShared, rate);
      inbound.holdBack();
    }

    // 6. Receipts and uplinks

    private void published(DeviceSession current, MqttPacket.Publish publish) {
      DeviceKey device = current.key();
      if (inbound == null) {
        inbound = new InboundFlow(link, inboundShared, inboundShared.rates().of(device));
      }
      inbound.published(device, publish);
    }

    // 7. The end

    private void disconnect(DeviceSession current, MqttPacket.Disconnect disconnect) {
      long wished = disconnect.properties().number(PropertyId.SESSION_EXPIRY_INTERVAL, -1);
      if (wished > 0 && !current.terms().isPersistent()) {
        violation(ReasonCode.PROTOCOL_ERROR, "a session that was to end cannot be prolonged");
        return;
      }
      if (disconnect.reason() == ReasonCode.SUCCESS) {
        will = null;
      }
      if (wished >= 0) {
        current.expireAfter(Math.min(wished, SessionTerms.LONGEST_EXPIRY.toSeconds()));
      }
      link.close();
      retire();
    }

    private void violation(ReasonCode reason, String why) {
      admissionMetrics.refused(reason);
      link.disconnect(reason, why);
    }

    @Override
    public void refused(ReasonCode reason, String why) {
      admissionMetrics.refused(reason);
    }

    @Override
    public void flushed() {
      if (session != null) {
        session.flushed();
      }
    }

    @Override
    public boolean swept(long nowNanos) {
      boolean busy = session != null && session.swept(nowNanos);
      if (inbound != null) {
        busy |= inbound.swept(nowNanos);
        if (inbound.isAtRest(nowNanos)) {
          inbound = null;
        }
      }
      if (drain != null) {
        drain.swept(nowNanos);
        if (drain.isIdle()) {
          drain = null;
        }
      }
      return busy || drain != null;
    }

    @Override
    public void askForParked() {
      if (session == null || session.subscription() == null) {
        return;
      }
      if (drain == null) {
        drain = new InboxDrain(inbox, session);
        link.watch();
      }
      drain.wanted();
    }

    @Override
    public boolean isInboxAheadOf(MessageId fresh) {
      return drain != null && drain.isAheadOf(fresh);
    }

    @Override
    public @Nullable OutboundMessage nextParked(@Nullable MessageId fresh) {
      return drain == null ? null : drain.next(fresh);
    }

    /// The node has sent its devices away before; [#closed] follows for those that are left.
    @Override
    public void stopping() {}

    @Override
    public void pathDied() {
      if (session != null) {
        session.pathDied();
      }
    }

    @Override
    public void closed() {
      retire();
    }

    /// Ends the session, once: when this node ends the connection or the socket closes, whichever
    /// is first. A socket that lingers delays nothing.
    @Override
    public void retire() {
      DeviceSession ended = session;
      if (ended == null || ended.isGone()) {
        return;
      }
      if (inbound != null) {
        inboundShared.rates().keep(ended.key(), inbound.rate());
      }
      if (ended.isDenied()) {
        will = null;
      }
      boolean subscribed = ended.subscription() != null;
      List<DetachedWindows.Unacknowledged> left = ended.end();
      List<MessageId> mayHaveReceived = ended.mayHaveReceived(left);
      boolean wasCurrent = sessions.remove(ended);
      if (ended.terms().isPersistent()) {
        // A session without a subscription is remembered, too. The directory may have forgotten the
        // subscription because the device has another user; then no message of the former user may
        // remain.
        detached.keep(
            ended.key(),
            ended.epoch(),
            ended.terms().expirySeconds(),
            subscribed ? left : List.of());
      }
      if (wasCurrent) {
        registrar.release(ended, ended.terms().expirySeconds(), mayHaveReceived);
      }
      if (will != null) {
        tell(will, ended, wasCurrent && !ended.isLost());
      }
    }

    /// The will is published after its delay, or when the session ends if that is sooner. A device
    /// that another node has taken over is connected again, so a delayed will is dropped.
    private void tell(Will last, DeviceSession ended, boolean gone) {
      long delay =
          Math.min(
              last.properties().number(PropertyId.WILL_DELAY_INTERVAL, 0),
              ended.terms().expirySeconds());
      if (delay == 0 || gone) {
        wills.later(ended.key(), last, Duration.ofSeconds(delay));
      }
    }
  }
}
