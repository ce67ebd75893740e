package io.pushplanet.gateway.connection;

import io.pushplanet.simulators.tls.Authority;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.SelectionKey;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.apache.hc.core5.http.Header;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.http2.config.H2Param;
import org.apache.hc.core5.http2.config.H2Setting;
import org.apache.hc.core5.http2.frame.DefaultFrameFactory;
import org.apache.hc.core5.http2.frame.FrameConsts;
import org.apache.hc.core5.http2.frame.FrameFactory;
import org.apache.hc.core5.http2.frame.FrameFlag;
import org.apache.hc.core5.http2.frame.FrameType;
import org.apache.hc.core5.http2.frame.RawFrame;
import org.apache.hc.core5.http2.hpack.HPackDecoder;
import org.apache.hc.core5.http2.hpack.HPackEncoder;
import org.apache.hc.core5.http2.hpack.HPackException;
import org.apache.hc.core5.http2.impl.nio.FrameInputBuffer;
import org.apache.hc.core5.http2.impl.nio.FrameOutputBuffer;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.reactor.DefaultConnectingIOReactor;
import org.apache.hc.core5.reactor.EventMask;
import org.apache.hc.core5.reactor.IOEventHandler;
import org.apache.hc.core5.reactor.IOSession;
import org.apache.hc.core5.reactor.ProtocolIOSession;
import org.apache.hc.core5.util.ByteArrayBuffer;
import org.apache.hc.core5.util.Timeout;

/// A multiplexer of our own on HttpComponents Core's public frame, HPACK and reactor classes, as small as a measurement needs: it
/// sends, counts answers by their stream, keeps to the connection's window, and knows no fault.
final class FrameSender implements NotificationSender {
  static final String NAME = "frames";

  /// The same under a blocked virtual thread for each notification, as ours is used.
  static final String BLOCKED = "frames-blocked";

  private static final byte[] PREFACE =
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
  private static final int BATCH_BYTES = 64 * 1_024;
  private static final int LONGEST_REQUEST_BYTES = 4 * 1_024;
  private static final long LONGEST_WAIT_NANOS = Duration.ofSeconds(10).toNanos();
  private static final Timeout CONNECTED_WITHIN = Timeout.ofSeconds(10);

  private record Notification(long number, long began, Runnable after, Ended ended) {
    void end(boolean well) {
      ended.ended(number, began, well);
      after.run();
    }
  }

  private final boolean blocked;

  private final byte[] payload = OurSender.payload();
  private final DefaultConnectingIOReactor reactor;
  private final SSLContext tls;
  private final HttpHost host;
  private final List<Connection> connections = new ArrayList<>();

  FrameSender(Authority authority, int port, int perCredential, boolean blocked) {
    this.blocked = blocked;
    tls = Trust.with(authority.pem()).context();
    host = new HttpHost("https", "localhost", port);
    reactor =
        new DefaultConnectingIOReactor((session, attachment) -> {
          Connection connection = (Connection) attachment;
          connection.startTls(session);
          return connection;
        });
    reactor.start();
    for (int i = 0; i < perCredential; i++) {
      Connection connection = new Connection();
      connections.add(connection);
      var _ =
          reactor.connect(
              host,
              new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
              null,
              CONNECTED_WITHIN,
              connection,
              null);
    }
  }

  @Override
  public void keepSending(int inFlight, LongSupplier next, Ended ended) {
    if (blocked) {
      for (int i = 0; i < inFlight; i++) {
        var _ = Thread.startVirtualThread(() -> sendOneByOne(next, ended));
      }
      return;
    }
    Semaphore room = new Semaphore(inFlight);
    Thread.ofPlatform()
        .daemon()
        .start(() -> {
          for (long n = next.getAsLong(); n >= 0; n = next.getAsLong()) {
            room.acquireUninterruptibly();
            connections
                .get((int) (n % connections.size()))
                .send(new Notification(n, System.nanoTime(), room::release, ended));
          }
        });
  }

  private void sendOneByOne(LongSupplier next, Ended ended) {
    Thread sender = Thread.currentThread();
    for (long n = next.getAsLong(); n >= 0; n = next.getAsLong()) {
      AtomicBoolean answered = new AtomicBoolean();
      Runnable wake =
          () -> {
            answered.set(true);
            LockSupport.unpark(sender);
          };
      connections
          .get((int) (n % connections.size()))
          .send(new Notification(n, System.nanoTime(), wake, ended));
      while (!answered.get()) {
        LockSupport.parkNanos(this, LONGEST_WAIT_NANOS);
      }
    }
  }

  @Override
  public void close() {
    reactor.close(CloseMode.IMMEDIATE);
  }

  /// Confined to its reactor's thread, but for `send`.
  private final class Connection implements IOEventHandler {
    private final Queue<Notification> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean asked = new AtomicBoolean();
    private final FrameFactory frames = DefaultFrameFactory.INSTANCE;
    private final FrameInputBuffer in = new FrameInputBuffer(FrameConsts.MIN_FRAME_SIZE);
    private final FrameOutputBuffer out = new FrameOutputBuffer(FrameConsts.MIN_FRAME_SIZE);
    private final HPackEncoder encoder = new HPackEncoder(4_096, StandardCharsets.US_ASCII);
    private final HPackDecoder decoder = new HPackDecoder(4_096, StandardCharsets.US_ASCII);
    private final ByteArrayBuffer block = new ByteArrayBuffer(1_024);
    private final Batch batch = new Batch();
    private final Map<Integer, Notification> streams = new HashMap<>();
    private volatile IOSession session;
    private int nextStream = 1;
    private long window = 65_535;

    void startTls(ProtocolIOSession plain) {
      plain.startTls(
          tls,
          host,
          null,
          (endpoint, engine) -> {
            SSLParameters parameters = engine.getSSLParameters();
            parameters.setApplicationProtocols(new String[] {"h2"});
            parameters.setEndpointIdentificationAlgorithm("HTTPS");
            engine.setSSLParameters(parameters);
          },
          null,
          CONNECTED_WITHIN);
    }

    void send(Notification notification) {
      waiting.add(notification);
      if (session != null && asked.compareAndSet(false, true)) {
        session.setEvent(SelectionKey.OP_WRITE);
      }
    }

    @Override
    public void connected(IOSession connected) throws IOException {
      batch.bytes.put(PREFACE);
      out.write(frames.createSettings(new H2Setting(H2Param.ENABLE_PUSH, 0)), batch);
      asked.set(true);
      session = connected;
      session.setEventMask(EventMask.READ_WRITE);
    }

    @Override
    public void outputReady(IOSession ready) throws IOException {
      boolean room = true;
      while (room) {
        Notification next;
        while (batch.bytes.remaining() >= LONGEST_REQUEST_BYTES
            && window >= payload.length
            && (next = waiting.poll()) != null) {
          write(next);
        }
        if (batch.bytes.position() == 0) {
          ready.clearEvent(SelectionKey.OP_WRITE);
          asked.set(false);
          if (!waiting.isEmpty() && window >= payload.length && asked.compareAndSet(false, true)) {
            ready.setEvent(SelectionKey.OP_WRITE);
          }
          return;
        }
        batch.bytes.flip();
        room = ready.write(batch.bytes) > 0;
        batch.bytes.compact();
      }
    }

    private void write(Notification next) throws IOException {
      block.clear();
      encoder.encodeHeaders(
          block,
          List.of(
              METHOD,
              SCHEME,
              new BasicHeader(":authority", host.toHostString()),
              new BasicHeader(":path", "/3/device/" + NotificationSender.token(next.number), true),
              TOPIC,
              PUSH_TYPE,
              PRIORITY,
              EXPIRATION,
              new BasicHeader("apns-id", new UUID(next.number, next.number).toString(), true),
              AUTHORIZATION),
          false);
      int stream = nextStream;
      nextStream += 2;
      streams.put(stream, next);
      window -= payload.length;
      out.write(
          frames.createHeaders(
              stream, ByteBuffer.wrap(block.array(), 0, block.length()), true, false),
          batch);
      out.write(frames.createData(stream, ByteBuffer.wrap(payload), true), batch);
    }

    @Override
    public void inputReady(IOSession ready, ByteBuffer plain) throws IOException {
      ByteBuffer source = plain;
      RawFrame frame;
      // With a source the buffer moves what it holds at each frame.
      while ((frame = in.read(source, ready)) != null) {
        accept(frame);
        source = source != null && source.hasRemaining() ? source : null;
      }
    }

    private void accept(RawFrame frame) throws IOException {
      switch (FrameType.valueOf(frame.getType())) {
        case HEADERS -> {
          String status = status(frame);
          Notification answered = streams.remove(frame.getStreamId());
          if (answered != null) {
            answered.end(status.equals("200"));
          }
        }
        case RST_STREAM -> {
          Notification reset = streams.remove(frame.getStreamId());
          if (reset != null) {
            reset.end(false);
          }
        }
        case WINDOW_UPDATE -> {
          if (frame.getStreamId() == 0) {
            window += frame.getPayload().getInt();
            ask();
          }
        }
        case SETTINGS -> {
          if (!frame.isFlagSet(FrameFlag.ACK)) {
            out.write(frames.createSettingsAck(), batch);
            ask();
          }
        }
        case PING -> {
          if (!frame.isFlagSet(FrameFlag.ACK)) {
            out.write(frames.createPingAck(frame.getPayloadContent()), batch);
            ask();
          }
        }
        default -> {}
      }
    }

    private String status(RawFrame frame) throws IOException {
      try {
        return decoder.decodeHeaders(frame.getPayloadContent()).getFirst().getValue();
      } catch (HPackException e) {
        throw new IOException(e);
      }
    }

    private void ask() {
      if (asked.compareAndSet(false, true)) {
        session.setEvent(SelectionKey.OP_WRITE);
      }
    }

    @Override
    public void timeout(IOSession idle, Timeout timeout) {}

    @Override
    public void exception(IOSession failed, Exception cause) {
      System.out.println("the connection failed: " + cause);
    }

    @Override
    public void disconnected(IOSession gone) {
      streams.values().forEach(notification -> notification.end(false));
      streams.clear();
    }
  }

  private static final Header METHOD = new BasicHeader(":method", "POST");
  private static final Header SCHEME = new BasicHeader(":scheme", "https");
  private static final Header TOPIC = new BasicHeader("apns-topic", OurSender.TOPIC);
  private static final Header PUSH_TYPE = new BasicHeader("apns-push-type", "alert");
  private static final Header PRIORITY = new BasicHeader("apns-priority", "10");
  private static final Header EXPIRATION = new BasicHeader("apns-expiration", "1800000000");
  private static final Header AUTHORIZATION =
      new BasicHeader("authorization", OurSender.AUTHORIZATION, true);

  /// Frames behind each other for one write: the output buffer would write each by itself.
  private static final class Batch implements GatheringByteChannel {
    final ByteBuffer bytes = ByteBuffer.allocate(BATCH_BYTES);

    @Override
    public int write(ByteBuffer from) {
      int length = from.remaining();
      bytes.put(from);
      return length;
    }

    @Override
    public long write(ByteBuffer[] from) {
      return write(from, 0, from.length);
    }

    @Override
    public long write(ByteBuffer[] from, int offset, int length) {
      long written = 0;
      for (int i = offset; i < offset + length; i++) {
        written += write(from[i]);
      }
      return written;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
