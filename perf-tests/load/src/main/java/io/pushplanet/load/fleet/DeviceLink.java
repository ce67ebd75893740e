package io.pushplanet.load.fleet;

import io.pushplanet.load.mqtt.ClientPackets;
import io.pushplanet.load.mqtt.DeviceTopics;
import io.pushplanet.load.mqtt.MalformedPacket;
import io.pushplanet.load.mqtt.MqttVersion;
import io.pushplanet.load.mqtt.ServerPackets;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.json.JsonMapper;

/// One device and its current connection. Confined to the fleet's thread.
final class DeviceLink {
  private static final int LONGEST_PACKET_BYTES = 64 * 1024;
  private static final int SUBSCRIBE_ID = 1;

  enum Phase {
    AWAY,
    CONNECTING,
    WAITING_CONNACK,
    WAITING_SUBACK,
    READY
  }

  final Device device;
  private final FleetSettings settings;
  private final @Nullable InetSocketAddress source;
  Phase phase = Phase.AWAY;
  int failures;

  /// When the phase began, or when the last ping was sent; set by the fleet.
  long sinceNanos;

  /// When the last bytes came from the server.
  long heardNanos;

  /// The id of the last message; empty before the first.
  String lastMessage = "";

  private @Nullable SocketChannel channel;
  private @Nullable SelectionKey key;
  private @Nullable ByteBuffer partial;
  private @Nullable ByteBuffer unsent;
  private int lastPacketId = SUBSCRIBE_ID;
  private int pongs;
  private int subscriptions;

  DeviceLink(Device device, FleetSettings settings) {
    this(device, settings, null);
  }

  /// @param source its source address, with port 0; null: the kernel chooses
  DeviceLink(Device device, FleetSettings settings, @Nullable InetSocketAddress source) {
    this.device = device;
    this.settings = settings;
    this.source = source;
  }

  void connect(Selector selector, InetSocketAddress server) throws IOException {
    SocketChannel opened = SocketChannel.open();
    channel = opened;
    opened.configureBlocking(false);
    opened.setOption(StandardSocketOptions.TCP_NODELAY, true);
    phase = Phase.CONNECTING;
    key = opened.register(selector, SelectionKey.OP_CONNECT, this);
    if (source != null) {
      opened.bind(source);
    }
    opened.connect(server);
  }

  void finishConnect() throws IOException {
    if (channel == null || key == null || !channel.finishConnect()) {
      return;
    }
    key.interestOps(SelectionKey.OP_READ);
    phase = Phase.WAITING_CONNACK;
    write(device.connect(settings));
  }

  /// Reads the available packets, acknowledges the messages among them and adds their ids to
  /// `messageIds`.
  ///
  /// @param buffer shared by all links, empty before and after
  /// @param acks shared by all links, empty before and after
  void read(ByteBuffer buffer, ByteBuffer acks, List<String> messageIds) throws IOException {
    if (channel == null) {
      return;
    }
    buffer.clear();
    if (partial != null) {
      buffer.put(partial);
      partial = null;
    }
    int count = channel.read(buffer);
    if (count < 0) {
      throw new EOFException("the server closed the connection");
    }
    buffer.flip();
    acks.clear();
    while (readPacket(buffer, acks, messageIds)) {}
    if (buffer.hasRemaining()) {
      partial = ByteBuffer.allocate(buffer.remaining()).put(buffer).flip();
    }
    if (acks.flip().hasRemaining()) {
      write(acks);
    }
  }

  void ping() throws IOException {
    write(ClientPackets.ping());
  }

  /// Called once a second: sends a ping when it is due.
  ///
  /// @throws IOException when the server is silent, or a handshake takes too long
  void look(long nowNanos) throws IOException {
    long pingAfter = settings.keepAlive().toNanos() / 2;
    switch (phase) {
      case AWAY -> {}
      case CONNECTING, WAITING_CONNACK, WAITING_SUBACK -> {
        if (nowNanos - sinceNanos > settings.handshakeWithin().toNanos()) {
          throw new IOException("no answer within " + settings.handshakeWithin());
        }
      }
      case READY -> {
        if (nowNanos - heardNanos > 3 * pingAfter) {
          throw new IOException("the server is silent");
        }
        if (nowNanos - sinceNanos > pingAfter) {
          sinceNanos = nowNanos;
          ping();
        }
      }
    }
  }

  /// Answers to pings since the last call.
  int takePongs() {
    int taken = pongs;
    pongs = 0;
    return taken;
  }

  /// Subscribes to the same messages at another QoS, in the same session.
  void subscribe(int qos) throws IOException {
    write(ClientPackets.subscribe(device.version(), SUBSCRIBE_ID, DeviceTopics.MESSAGES, qos));
  }

  /// Granted subscriptions since the last call.
  int takeSubscriptions() {
    int taken = subscriptions;
    subscriptions = 0;
    return taken;
  }

  void publish(String topic, byte[] payload) throws IOException {
    lastPacketId = lastPacketId == 0xFFFF ? SUBSCRIBE_ID + 1 : lastPacketId + 1;
    write(ClientPackets.publish(device.version(), lastPacketId, topic, payload));
  }

  void writePending() throws IOException {
    if (unsent != null && channel != null && key != null) {
      channel.write(unsent);
      if (!unsent.hasRemaining()) {
        unsent = null;
        key.interestOps(SelectionKey.OP_READ);
      }
    }
  }

  /// Closes without a DISCONNECT, like a phone that leaves the network.
  void cut() {
    phase = Phase.AWAY;
    partial = null;
    unsent = null;
    if (key != null) {
      key.cancel();
      key = null;
    }
    if (channel != null) {
      try {
        channel.close();
      } catch (IOException e) {
        // It is gone either way.
      }
      channel = null;
    }
  }

  /// Sends a DISCONNECT, then closes.
  void leave() {
    if (phase == Phase.READY && unsent == null) {
      try {
        write(ClientPackets.disconnect());
      } catch (IOException e) {
        // It is gone either way.
      }
    }
    cut();
  }

  private boolean readPacket(ByteBuffer in, ByteBuffer acks, List<String> messageIds)
      throws IOException {
    int start = in.position();
    if (in.remaining() < 2) {
      return false;
    }
    int header = in.get() & 0xFF;
    int length = ServerPackets.variableInt(in);
    if (length > LONGEST_PACKET_BYTES) {
      throw new MalformedPacket("a packet of " + length + " bytes");
    }
    if (length < 0 || in.remaining() < length) {
      in.position(start);
      return false;
    }
    ByteBuffer body = in.slice(in.position(), length);
    in.position(in.position() + length);
    switch (header >>> 4) {
      case ServerPackets.PUBLISH -> message(header, body, acks, messageIds);
      case ServerPackets.CONNACK -> connected(body);
      case ServerPackets.SUBACK -> subscribed(body);
      case ServerPackets.PUBACK -> {}
      case ServerPackets.PINGRESP -> pongs++;
      case ServerPackets.DISCONNECT ->
          throw new IOException(
              "the server disconnects with 0x"
                  + (body.hasRemaining() ? Integer.toHexString(body.get() & 0xFF) : "0"));
      default -> throw new MalformedPacket("a packet of type " + (header >>> 4));
    }
    return true;
  }

  private void connected(ByteBuffer body) throws IOException {
    body.get();
    int code = body.get() & 0xFF;
    if (code != 0) {
      throw new IOException(
          "the server refuses the connection with 0x" + Integer.toHexString(code));
    }
    phase = Phase.WAITING_SUBACK;
    subscribe(settings.qos());
  }

  private void subscribed(ByteBuffer body) throws IOException {
    int code = body.get(body.limit() - 1) & 0xFF;
    if (code > 2) {
      throw new IOException(
          "the server refuses the subscription with 0x" + Integer.toHexString(code));
    }
    phase = Phase.READY;
    subscriptions++;
    failures = 0;
  }

  private void message(int header, ByteBuffer body, ByteBuffer acks, List<String> messageIds) {
    int topicLength = body.getShort() & 0xFFFF;
    body.position(body.position() + topicLength);
    if (((header >>> 1) & 3) > 0) {
      ClientPackets.puback(acks, body.getShort() & 0xFFFF);
    }
    if (device.version() == MqttVersion.V5) {
      int properties = ServerPackets.variableInt(body);
      body.position(body.position() + properties);
    }
    byte[] payload = new byte[body.remaining()];
    body.get(payload);
    messageIds.add(messageId(payload));
  }

  /// The payload's `id`, empty when it has none.
  private static String messageId(byte[] payload) {
    try (JsonParser json = JsonMapper.shared().createParser(payload)) {
      if (json.nextToken() != JsonToken.START_OBJECT) {
        return "";
      }
      while (json.nextToken() == JsonToken.PROPERTY_NAME) {
        boolean found = json.currentName().equals("id");
        JsonToken value = json.nextToken();
        if (found && value == JsonToken.VALUE_STRING) {
          return json.getString();
        }
        json.skipChildren();
      }
      return "";
    } catch (JacksonException e) {
      return "";
    }
  }

  private void write(byte[] packet) throws IOException {
    write(ByteBuffer.wrap(packet));
  }

  private void write(ByteBuffer packet) throws IOException {
    if (channel == null || key == null) {
      throw new IOException("not connected");
    }
    if (unsent == null) {
      channel.write(packet);
    }
    if (packet.hasRemaining()) {
      int waiting = unsent == null ? 0 : unsent.remaining();
      if (waiting > LONGEST_PACKET_BYTES) {
        throw new IOException("the server does not read");
      }
      ByteBuffer more = ByteBuffer.allocate(waiting + packet.remaining());
      if (unsent != null) {
        more.put(unsent);
      }
      unsent = more.put(packet).flip();
      key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
    }
  }
}
