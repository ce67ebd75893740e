package io.pushplanet.cm.simulator;

import io.pushplanet.cm.mqtt.MqttPacket;
import io.pushplanet.cm.mqtt.MqttProperties;
import io.pushplanet.cm.mqtt.MqttVersion;
import io.pushplanet.cm.mqtt.ReasonCode;
import io.pushplanet.cm.mqtt.codec.DecodeOutcome;
import io.pushplanet.cm.mqtt.codec.PacketDecoder;
import io.pushplanet.cm.mqtt.codec.PacketEncoder;
import io.pushplanet.cm.mqtt.codec.PacketLimits;
import io.pushplanet.cm.mqtt.link.KeepAlive;
import io.pushplanet.cm.mqtt.link.MqttPeer;
import io.pushplanet.cm.mqtt.link.PlainLink;
import io.pushplanet.cm.transport.Loop;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/// The node's end of a device's connection. Packets keep their order and are delayed in both
/// directions; while the node stands still the kernel keeps them.
final class SimLink implements PlainLink {
  private static final PacketEncoder ENCODER = new PacketEncoder();
  private static final PacketDecoder DECODER = new PacketDecoder();
  private static final PacketLimits LIMITS = PacketLimits.UNAUTHENTICATED.withPacketBytes(1 << 16);

  // In the kernel's queue, while the loop is slow to accept it; its client may have given up by
  // then.
  private static final double WAITS = 0.2;
  private static final int WAIT_MICROS = 5_000_000;

  private final World world;
  private final SimNode node;
  private final SimLoop loop;
  private final SimDevice.Socket device;
  private final ArrayDeque<Runnable> input = new ArrayDeque<>();
  private final MqttPeer peer;
  private long lastToNodeMicros;
  private long lastToDeviceMicros;
  private boolean open = true;
  private boolean gone;
  private boolean ended;
  private boolean paused;
  private boolean watched;
  private boolean accepted;
  private boolean spoken;
  private long silentSinceNanos;

  SimLink(World world, SimNode node, SimDevice.Socket device) {
    this.world = world;
    this.node = node;
    this.loop = node.anyLoop();
    this.lastToNodeMicros =
        world.nowMicros() + (world.chance(WAITS) ? world.below(WAIT_MICROS) : 0);
    this.device = device;
    this.peer = node.pipeline.accepted(this);
    loop.add(this);
  }

  MqttPeer peer() {
    return peer;
  }

  String nodeId() {
    return node.id.value();
  }

  boolean hasInput() {
    return !paused && !input.isEmpty();
  }

  void readOne() {
    input.remove().run();
  }

  /// As a real connection does: once a second while it is busy, rarely otherwise.
  void sweep(long nowNanos, boolean idleToo) {
    if (!ended && (watched || idleToo)) {
      watched = peer.swept(nowNanos);
    }
  }

  // The device's side

  void fromDevice(MqttPacket packet) {
    toNode(() -> {
      if (open) {
        long now = loop.nowNanos();
        spoken |= accepted && now - silentSinceNanos > 0;
        silentSinceNanos = now;
        peer.packet(packet);
      }
    });
  }

  void deviceClosed() {
    toNode(this::gone);
  }

  void broken() {
    open = false;
    toDevice(device::closedByNode);
  }

  private void toNode(Runnable what) {
    lastToNodeMicros = Math.max(lastToNodeMicros, world.nowMicros() + world.below(10_000));
    world.at(
        lastToNodeMicros,
        () -> {
          input.add(what);
          loop.wake();
        });
  }

  private void toDevice(Runnable what) {
    lastToDeviceMicros = Math.max(lastToDeviceMicros, world.nowMicros() + world.below(10_000));
    world.at(lastToDeviceMicros, what);
  }

  private void gone() {
    if (!gone) {
      gone = true;
      open = false;
      input.clear();
      loop.remove(this);
      end();
    }
  }

  private void end() {
    if (!ended) {
      ended = true;
      peer.closed();
    }
  }

  private void closeSoon() {
    open = false;
    paused = false;
    toDevice(device::closedByNode);
    world.after(1, 1_500, () -> loop.execute(this::gone));
    end();
  }

  // The node's side

  @Override
  public Loop loop() {
    return loop;
  }

  @Override
  public boolean isOpen() {
    return open;
  }

  @Override
  public boolean isV5() {
    return true;
  }

  @Override
  public void accept(MqttVersion spoken, PacketLimits limits, KeepAlive kept, boolean explains) {
    accepted = true;
  }

  @Override
  public boolean hasHeardSince(long nanos) {
    return silentSinceNanos - nanos > 0 || !input.isEmpty();
  }

  @Override
  public boolean hasSpoken() {
    return spoken;
  }

  @Override
  public void watch() {
    watched = true;
  }

  @Override
  public void pauseReading() {
    paused = open;
  }

  @Override
  public void resumeReading() {
    if (paused) {
      silentSinceNanos = loop.nowNanos();
    }
    paused = false;
    loop.wake();
  }

  @Override
  public void send(MqttPacket packet) {
    if (open) {
      watched = true;
      toDevice(() -> device.heard(packet));
    }
  }

  @Override
  public byte[] encode(MqttPacket packet) {
    return ENCODER.encode(packet, MqttVersion.V5);
  }

  @Override
  public void sendEncoded(byte[] packet) {
    var decoded = DECODER.decode(ByteBuffer.wrap(packet), MqttVersion.V5, LIMITS);
    if (decoded instanceof DecodeOutcome.Decoded(var whole)) {
      node.watch(device.key(), "sent a message");
      node.wrote(device.key());
      send(whole);
    } else {
      throw new AssertionError("sent rubbish: " + decoded);
    }
  }

  @Override
  public void refuseConnect(MqttVersion spoken, ReasonCode reason, MqttProperties properties) {
    send(new MqttPacket.ConnAck(false, reason.code(), MqttProperties.NONE));
    closeSoon();
  }

  @Override
  public void disconnect(ReasonCode reason, String why) {
    disconnect(reason, MqttProperties.NONE);
  }

  @Override
  public void disconnect(ReasonCode reason, MqttProperties properties) {
    if (open) {
      send(new MqttPacket.Disconnect(reason, MqttProperties.NONE));
      closeSoon();
    }
  }

  @Override
  public void close() {
    if (open) {
      open = false;
      toDevice(device::closedByNode);
      gone();
    }
  }
}
