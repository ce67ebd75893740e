package io.pushplanet.cm.mqtt.link;

import io.pushplanet.cm.keepalive.Network;
import io.pushplanet.cm.keepalive.Networks;
import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.PropertyId;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.UserProperty;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.transport.CloseCause;
import io.pushplanet.cm.transport.Connection;
import io.pushplanet.cm.transport.ConnectionHandler;
import io.pushplanet.cm.transport.EventLoop;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// MQTT on one socket. Until [#accept] only a CONNECT may come, within [#CONNECT_WITHIN_SECONDS]
/// and within small limits. Confined to its event loop.
public final class MqttLink implements ConnectionHandler, Link {
  public static final int CONNECT_WITHIN_SECONDS = 5;

  /// An MQTT 5 client may name its mobile network in CONNECT, by MCC and MNC.
  private static final String OPERATOR = "operator";

  private static final PacketDecoder DECODER = new PacketDecoder();
  private static final PacketEncoder ENCODER = new PacketEncoder();

  private final Connection connection;
  private final MqttPeer peer;
  private final @Nullable Networks networks;
  private PacketLimits limits = PacketLimits.UNAUTHENTICATED;
  private @Nullable MqttVersion version;
  private int keepAliveSeconds;
  private boolean explains;
  private boolean spoke;
  private boolean greeted;
  // When the last packet came or reading was resumed; until then the peer's silence was not its
  // own.
  private long silentSinceNanos;
  private @Nullable Network network;

  public MqttLink(Connection connection, Function<MqttLink, MqttPeer> peer) {
    this(connection, null, peer);
  }

  /// @param networks learns how long connections survive; null to learn nothing
  public MqttLink(
      Connection connection, @Nullable Networks networks, Function<MqttLink, MqttPeer> peer) {
    this.connection = connection;
    this.networks = networks;
    this.silentSinceNanos = connection.loop().nowNanos();
    this.peer = peer.apply(this);
  }

  @Override
  public EventLoop loop() {
    return connection.loop();
  }

  @Override
  public boolean isOpen() {
    return connection.isOpen();
  }

  @Override
  public void closeIfPeerLeft() {
    connection.closeIfPeerLeft();
  }

  @Override
  public boolean isV5() {
    return version == MqttVersion.V5;
  }

  @Override
  public ListenerKind listenerKind() {
    if (connection.isWebSocket()) {
      return ListenerKind.WEB_SOCKET;
    }
    return connection.isTls() ? ListenerKind.TLS : ListenerKind.MQTT;
  }

  @Override
  public boolean explains() {
    return explains;
  }

  @Override
  public @Nullable InetAddress source() {
    return connection.source();
  }

  public int pendingBytes() {
    return connection.pendingBytes();
  }

  @Override
  public void accept(
      MqttVersion spoken, PacketLimits newLimits, KeepAlive newKeepAlive, boolean wantsReasons) {
    version = spoken;
    limits = newLimits;
    keepAliveSeconds = newKeepAlive.seconds();
    explains = wantsReasons;
    connection.authenticated();
  }

  @Override
  public KeepAlive advised(MqttPacket.Connect connect, KeepAlive granted) {
    InetAddress source = connection.source();
    if (networks == null || source == null) {
      return granted;
    }
    Network found = networks.of(source, operator(connect.properties().userProperties()));
    network = found;
    return connect.version() == MqttVersion.V5
        ? granted.advised(networks.advise(found, granted.seconds()))
        : granted;
  }

  private static Optional<String> operator(List<UserProperty> properties) {
    for (UserProperty property : properties) {
      if (property.name().equals(OPERATOR)) {
        return Optional.of(property.value());
      }
    }
    return Optional.empty();
  }

  @Override
  public boolean hasHeardSince(long nanos) {
    // Bytes that lie unread in the kernel and partial packets are signs of life, too.
    return silentSinceNanos - nanos > 0
        || connection.isPaused()
        || connection.hasPartialSince(nanos);
  }

  @Override
  public boolean hasSpoken() {
    return spoke;
  }

  @Override
  public void pathDied(long sentNanos) {
    if (network != null) {
      int idle = seconds(sentNanos - silentSinceNanos);
      // The client had to send a packet within its keep-alive, so longer silences prove nothing.
      network.died(keepAliveSeconds > 0 ? Math.min(idle, keepAliveSeconds) : idle);
      network = null;
    }
  }

  @Override
  public void teachesNothing() {
    network = null;
  }

  @Override
  public void watch() {
    connection.watch();
  }

  @Override
  public void pauseReading() {
    connection.pauseReading();
  }

  @Override
  public void resumeReading() {
    if (connection.isPaused()) {
      silentSinceNanos = loop().nowNanos();
    }
    connection.resumeReading();
  }

  @Override
  public void send(MqttPacket packet) {
    connection.write(ENCODER.encode(packet, version == null ? MqttVersion.V3_1_1 : version));
  }

  @Override
  public byte[] encode(MqttPacket packet) {
    return ENCODER.encode(packet, version == null ? MqttVersion.V3_1_1 : version);
  }

  @Override
  public void sendEncoded(byte[] packet) {
    connection.write(packet);
  }

  @Override
  public void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties) {
    if (spoken == MqttVersion.V5) {
      connection.write(
          ENCODER.encode(new MqttPacket.ConnAck(false, reason.code(), properties), spoken));
    } else {
      reason
          .returnCode()
          .ifPresent(code ->
              connection.write(
                  ENCODER.encode(
                      new MqttPacket.ConnAck(false, code, MqttProperties.NONE), spoken)));
    }
    connection.closeAfterFlush();
  }

  @Override
  public void disconnect(ReasonCode reason, String why) {
    disconnect(
        reason,
        explains ? MqttProperties.with(PropertyId.REASON_STRING, why) : MqttProperties.NONE);
  }

  @Override
  public void disconnect(ReasonCode reason, MqttProperties properties) {
    if (!connection.isOpen()) {
      // The last packet is on its way, and the socket lingers.
      return;
    }
    if (reason == ReasonCode.KEEP_ALIVE_TIMEOUT || reason == ReasonCode.SESSION_TAKEN_OVER) {
      learnFromSilence();
    }
    if (reason == ReasonCode.SESSION_TAKEN_OVER) {
      // The device gets dropped messages where it is connected now, and repeats publishes whose
      // PUBACK was dropped.
      if (!connection.dropPending() || !greeted) {
        // The peer may have part of a packet. Its rest would complete a message that the device
        // gets elsewhere again. Or CONNACK is among the packets, and no packet may precede it
        // (MQTT-3.2.0-1).
        connection.close(CloseCause.OURS);
        return;
      }
    }
    if (version == MqttVersion.V5) {
      send(new MqttPacket.Disconnect(reason, properties));
    }
    connection.closeAfterFlush();
  }

  /// An overdue device, or one that reconnects while its ping on this connection is overdue, has
  /// lost this connection on the way.
  private void learnFromSilence() {
    boolean overdue = seconds(loop().nowNanos() - silentSinceNanos) > keepAliveSeconds;
    if (network != null && keepAliveSeconds > 0 && overdue && !connection.isPaused()) {
      network.died(keepAliveSeconds);
    }
  }

  private static int seconds(long nanos) {
    return (int) TimeUnit.NANOSECONDS.toSeconds(nanos);
  }

  @Override
  public void close() {
    connection.closeInReturn();
  }

  @Override
  public void received(ByteBuffer input) {
    while (connection.isOpen() && !connection.isPaused()) {
      switch (DECODER.decode(input, version, limits)) {
        case DecodeOutcome.Incomplete _ -> {
          return;
        }
        case DecodeOutcome.Decoded(MqttPacket packet) -> {
          heard(packet);
          peer.packet(packet);
        }
        case DecodeOutcome.Refused(ReasonCode reason, String why, MqttVersion spoken) -> {
          refuse(reason, why, spoken);
          return;
        }
      }
    }
  }

  private void heard(MqttPacket packet) {
    long now = loop().nowNanos();
    if (network != null) {
      int idle = seconds(now - silentSinceNanos);
      if (idle >= Network.SHORTEST_SECONDS) {
        network.survived(idle, packet instanceof MqttPacket.PingReq ? keepAliveSeconds : 0);
      }
    }
    // Packets that arrive in the turn in which reading resumes were sent before.
    spoke |= version != null && now - silentSinceNanos > 0;
    silentSinceNanos = now;
  }

  private void refuse(ReasonCode reason, String why, @Nullable MqttVersion spoken) {
    peer.refused(reason, why);
    if (version != null) {
      disconnect(reason, why);
    } else if (spoken != null) {
      refuseConnect(spoken, reason, MqttProperties.with(PropertyId.REASON_STRING, why));
    } else {
      connection.close(CloseCause.OURS);
    }
  }

  @Override
  public void crowded() {
    refuse(ReasonCode.QUOTA_EXCEEDED, "too much waits here for the rest of packets", null);
  }

  @Override
  public void flushed() {
    greeted |= version != null;
    peer.flushed();
  }

  @Override
  public boolean swept(long nowNanos) {
    boolean paused = connection.isPaused();
    if (version == null && !paused) {
      if (nowNanos - silentSinceNanos > TimeUnit.SECONDS.toNanos(CONNECT_WITHIN_SECONDS)) {
        peer.refused(ReasonCode.KEEP_ALIVE_TIMEOUT, "no CONNECT in time");
        connection.close(CloseCause.OURS);
      }
      return true;
    }
    if (!paused && KeepAlive.isOver(keepAliveSeconds, silentSinceNanos, nowNanos)) {
      String why = "silent for one and a half times the keep-alive of " + keepAliveSeconds + " s";
      peer.refused(ReasonCode.KEEP_ALIVE_TIMEOUT, why);
      disconnect(ReasonCode.KEEP_ALIVE_TIMEOUT, why);
      return true;
    }
    boolean busy = peer.swept(nowNanos);
    return busy || version == null || KeepAlive.isShort(keepAliveSeconds);
  }

  @Override
  public void stopping() {
    peer.stopping();
  }

  @Override
  public void closed(CloseCause cause) {
    if (cause == CloseCause.DEAD_PATH) {
      peer.pathDied();
    }
    peer.closed();
  }
}
