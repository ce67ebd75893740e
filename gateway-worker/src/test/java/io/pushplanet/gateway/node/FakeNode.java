package io.pushplanet.gateway.node;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.node.NodeId;
import io.pushplanet.common.node.NodeLease;
import io.pushplanet.common.wire.NodeBroadcast;
import io.pushplanet.common.wire.NodeFrame;
import io.pushplanet.common.wire.NodeOutcomes;
import io.pushplanet.common.wire.WireForm;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;

/// As much of a connection manager's trusted listener as a gateway needs: MQTT 5 with publishes at
/// QoS 1. It answers for the devices that a test names, at once or when the test says so, and is
/// silent about the others. Thread-safe.
public final class FakeNode implements AutoCloseable {
  private final NodeId id;
  private final ServerSocket listener;
  private final Map<DeviceId, IntFunction<NodeOutcomes.Outcome>> answers =
      new ConcurrentHashMap<>();
  private final Queue<DeviceId> drained = new ConcurrentLinkedQueue<>();
  private final Queue<Integer> broadcasts = new ConcurrentLinkedQueue<>();
  private final Queue<MessageId> messages = new ConcurrentLinkedQueue<>();
  private final Map<MessageId, Instant> answerBy = new ConcurrentHashMap<>();
  private final Map<MessageId, String> payloads = new ConcurrentHashMap<>();
  private final List<Open> frames = new ArrayList<>();
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private volatile boolean refusesDrains;
  private volatile boolean acknowledgesNothing;
  private volatile boolean takesNoMore;
  private volatile int receiveMaximum;
  private final AtomicInteger connects = new AtomicInteger();
  private final AtomicInteger published = new AtomicInteger();
  private final Queue<Unacknowledged> unacknowledged = new ConcurrentLinkedQueue<>();
  private final AtomicInteger pings = new AtomicInteger();

  private record Unacknowledged(ByteBuffer packet, String answersTo, OutputStream out) {}

  private record Open(String number, List<DeviceId> devices, String answersTo, OutputStream out) {}

  public FakeNode(String id) throws IOException {
    this.id = new NodeId(id);
    this.listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    Thread.ofVirtual().start(this::listen);
  }

  public NodeLease lease(Instant now) {
    return new NodeLease(id, "127.0.0.1", listener.getLocalPort(), 0, 0, 0, false, now);
  }

  /// Answers for a device from now on, also in frames that wait for it.
  public void answer(String device, NodeOutcomes.Result result) {
    answer(device, target -> new NodeOutcomes.Outcome(target, result, null));
  }

  /// Answers with a full outcome, made from the device's place in a frame.
  public synchronized void answer(String device, IntFunction<NodeOutcomes.Outcome> outcome) {
    answers.put(new DeviceId(device), outcome);
    for (Open open : frames) {
      answer(open, new DeviceId(device), outcome);
    }
  }

  /// Breaks the connection on which it is asked to drain.
  public void refuseDrains(boolean refuses) {
    refusesDrains = refuses;
  }

  /// How many unacknowledged publishes clients that connect from now on may send.
  public void takeAtOnce(int publishes) {
    receiveMaximum = publishes;
  }

  /// Reads from now on without acknowledging.
  void acknowledgeNothing() {
    acknowledgesNothing = true;
  }

  /// Sends the acknowledgements that are due, and goes on as before.
  void acknowledgeAll() throws IOException {
    acknowledgesNothing = false;
    for (Unacknowledged one = unacknowledged.poll(); one != null; one = unacknowledged.poll()) {
      published(one.packet(), one.answersTo(), one.out());
    }
  }

  /// How often a client has connected, whether or not it was accepted.
  int connects() {
    return connects.get();
  }

  /// Closes new connections.
  void takeNoMore() {
    takesNoMore = true;
  }

  int published() {
    return published.get();
  }

  public int pings() {
    return pings.get();
  }

  /// The devices that it was asked to drain.
  public List<DeviceId> drained() {
    return List.copyOf(drained);
  }

  /// The messages that it was given to deliver, in their order.
  public List<MessageId> messages() {
    return List.copyOf(messages);
  }

  /// The JSON that its devices get of this message.
  public String payload(MessageId message) {
    return Objects.requireNonNull(payloads.get(message));
  }

  /// The deadline of the latest frame with this message.
  public Instant answerBy(MessageId message) {
    return Objects.requireNonNull(answerBy.get(message));
  }

  /// How many devices each broadcast was for.
  public List<Integer> broadcasts() {
    return List.copyOf(broadcasts);
  }

  private void listen() {
    try {
      while (true) {
        Socket socket = listener.accept();
        connects.incrementAndGet();
        if (takesNoMore) {
          close(socket);
          continue;
        }
        sockets.add(socket);
        Thread.ofVirtual().start(() -> serve(socket));
      }
    } catch (IOException closed) {
      sockets.forEach(FakeNode::close);
    }
  }

  private void serve(Socket socket) {
    String answersTo = "";
    try (socket) {
      DataInputStream in = new DataInputStream(socket.getInputStream());
      OutputStream out = socket.getOutputStream();
      while (true) {
        int header = in.readUnsignedByte();
        ByteBuffer packet = ByteBuffer.wrap(in.readNBytes(length(in)));
        switch (header >> 4) {
          case 1 ->
              write(
                  out,
                  0x20,
                  receiveMaximum == 0
                      ? new byte[] {0, 0, 0}
                      : new byte[] {0, 0, 3, 0x21, 0, (byte) receiveMaximum});
          case 3 -> {
            published.incrementAndGet();
            if (acknowledgesNothing) {
              unacknowledged.add(new Unacknowledged(packet, answersTo, out));
            } else {
              published(packet, answersTo, out);
            }
          }
          case 8 -> {
            short number = packet.getShort();
            packet.position(packet.position() + 1 + packet.get(packet.position()));
            answersTo = text(packet);
            write(out, 0x90, ByteBuffer.allocate(4).putShort(number).put(3, (byte) 1).array());
          }
          case 12 -> {
            pings.incrementAndGet();
            write(out, 0xD0, new byte[0]);
          }
          default -> {
            return;
          }
        }
      }
    } catch (EOFException left) {
      // The gateway closed its side.
    } catch (IOException broken) {
      close(socket);
    }
  }

  private void published(ByteBuffer packet, String answersTo, OutputStream out) throws IOException {
    String topic = text(packet);
    short number = packet.getShort();
    packet.position(packet.position() + 1 + packet.get(packet.position()));
    byte[] payload = new byte[packet.remaining()];
    packet.get(payload);
    if (topic.equals(NodeFrame.DRAIN_TOPIC)) {
      if (refusesDrains) {
        throw new IOException("told to");
      }
      WireForm.read(payload, NodeFrame.Drain.class)
          .devices()
          .forEach(device -> drained.add(device.device()));
    }
    write(out, 0x40, ByteBuffer.allocate(2).putShort(number).array());
    if (topic.equals(NodeFrame.DELIVER_TOPIC)) {
      NodeFrame frame = WireForm.read(payload, NodeFrame.class);
      frame
          .messages()
          .forEach(message -> {
            messages.add(message.id());
            answerBy.put(message.id(), frame.answerBy());
            payloads.put(message.id(), message.payload());
          });
      take(
          new Open(
              frame.frame(),
              frame.targets().stream().map(NodeFrame.Target::device).toList(),
              answersTo,
              out));
    } else if (topic.equals(NodeBroadcast.TOPIC)) {
      NodeBroadcast frame = WireForm.read(payload, NodeBroadcast.class);
      broadcasts.add(frame.devices().size());
      messages.add(frame.message().id());
      take(new Open(frame.frame(), frame.devices(), answersTo, out));
    }
  }

  private synchronized void take(Open open) {
    frames.add(open);
    answers.forEach((device, outcome) -> answer(open, device, outcome));
  }

  private static void answer(
      Open open, DeviceId device, IntFunction<NodeOutcomes.Outcome> outcome) {
    List<NodeOutcomes.Outcome> outcomes = new ArrayList<>();
    for (int i = 0; i < open.devices().size(); i++) {
      if (open.devices().get(i).equals(device)) {
        outcomes.add(outcome.apply(i));
      }
    }
    if (!outcomes.isEmpty()) {
      byte[] topic = open.answersTo().getBytes(StandardCharsets.UTF_8);
      byte[] body = WireForm.write(new NodeOutcomes(open.number(), outcomes));
      ByteBuffer publish = ByteBuffer.allocate(3 + topic.length + body.length);
      publish.putShort((short) topic.length).put(topic).put((byte) 0).put(body);
      try {
        write(open.out(), 0x30, publish.array());
      } catch (IOException gone) {
        // The client no longer waits for it.
      }
    }
  }

  private static String text(ByteBuffer packet) {
    byte[] bytes = new byte[packet.getShort()];
    packet.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static int length(InputStream in) throws IOException {
    int length = 0;
    for (int shift = 0; ; shift += 7) {
      int next = in.read();
      if (next < 0) {
        throw new EOFException();
      }
      length |= (next & 0x7F) << shift;
      if (next < 0x80) {
        return length;
      }
    }
  }

  private static void write(OutputStream out, int header, byte[] rest) throws IOException {
    ByteBuffer packet = ByteBuffer.allocate(6 + rest.length).put((byte) header);
    int left = rest.length;
    do {
      packet.put((byte) (left >= 0x80 ? left & 0x7F | 0x80 : left));
      left >>= 7;
    } while (left > 0);
    packet.put(rest).flip();
    // One write per packet: answers come from several threads.
    synchronized (out) {
      out.write(packet.array(), 0, packet.limit());
      out.flush();
    }
  }

  private static void close(AutoCloseable some) {
    try {
      some.close();
    } catch (Exception alreadyClosed) {
      // Nothing is left to do.
    }
  }

  /// Closes everything at once.
  void vanish() {
    close();
  }

  @Override
  public void close() {
    close(listener);
    sockets.forEach(FakeNode::close);
  }
}
