package io.pushplanet.gateway.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply.Expired;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One HTTP/2 connection on its event loop. It writes the requests handed over, many of them in one
/// buffer, and ends each exactly once, by its answer or by the connection's fate. [PeerFrames]
/// reads the peer's frames, [Deadlines] ends what takes too long.
///
/// Confined to its event loop, except for the requests that [Http2Connection] hands over.
final class Http2Streams extends ByteToMessageDecoder implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(Http2Streams.class);

  /// Requests are gathered into buffers of about this size: four TLS records.
  private static final int BATCH_BYTES = 64 * 1024;

  private static final int STREAM_WINDOW = 2 * Exchange.MAX_BODY_BYTES;
  private static final int CONNECTION_WINDOW = 16 << 20;
  private static final int LONGEST_HEADERS = 16 * 1024;

  /// The most bytes that wait for a peer that reads nothing, besides requests.
  private static final int MAX_UNWRITTEN_BYTES = 1 << 20;

  /// The most streams in a row that a peer may break off. A server in trouble breaks off all its
  /// streams, but only once.
  static final int MAX_BROKEN_OFF = 10;

  private final String authority;
  private final boolean tls;
  private final Clock clock;
  private final HeaderTable headers = new HeaderTable();
  private final DefaultHttp2FrameReader reader =
      new DefaultHttp2FrameReader(new DefaultHttp2HeadersDecoder(false, LONGEST_HEADERS));
  private final OpenStreams open = new OpenStreams();
  private final Deque<Exchange> pending = new ArrayDeque<>();
  private final List<Runnable> askers = new ArrayList<>();
  private final Deadlines deadlines;

  // Set before the first event.
  private @Nullable Http2Connection connection;
  private @Nullable ChannelHandlerContext context;
  private @Nullable PeerFrames frames;

  private int nextStream;
  private int streamWindow = 65_535;
  private long nowNanos = System.nanoTime();

  /// Bytes for the next flush, besides requests.
  private @Nullable ByteBuf out;

  private int brokenOffInARow;
  private long unreported;
  private boolean firstFrameSeen;
  private boolean closed;
  private boolean roomMade;

  /// @param firstStream 1, except in tests
  Http2Streams(
      ConnectionSettings settings, String authority, boolean tls, Clock clock, int firstStream) {
    this.authority = authority;
    this.tls = tls;
    this.clock = clock;
    this.nextStream = firstStream;
    this.deadlines = new Deadlines(this, settings);
  }

  void belongsTo(Http2Connection itsConnection) {
    connection = itsConnection;
    frames = new PeerFrames(this, itsConnection);
  }

  private Http2Connection connection() {
    if (connection == null) {
      throw new IllegalStateException("belongsTo comes first");
    }
    return connection;
  }

  /// After the handshake: the client speaks first.
  void begin() {
    Frames.preface(out(), STREAM_WINDOW, CONNECTION_WINDOW, LONGEST_HEADERS);
    flush();
  }

  private ChannelHandlerContext context() {
    if (context == null) {
      throw new IllegalStateException("not in a pipeline yet");
    }
    return context;
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  // Writing.

  @Override
  public void run() {
    guarded(this::writeSubmitted);
  }

  /// Runs a step of our own code. After a bug or a lack of memory, which Java throws as an Error,
  /// the connection ends, because otherwise its senders would wait forever.
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      close("internal_error");
      LOG.error("event=connection_broke peer={}", authority, e);
    }
  }

  /// Fetches the requests handed over, and writes them.
  private void writeSubmitted() {
    Exchange latest = connection().fetchSubmitted();
    int before = pending.size();
    Exchange inOrder = null;
    while (latest != null) {
      Exchange next = latest.submittedBefore;
      latest.submittedBefore = inOrder;
      inOrder = latest;
      latest = next;
    }
    while (inOrder != null) {
      Exchange next = inOrder.submittedBefore;
      inOrder.submittedBefore = null;
      pending.addLast(inOrder);
      inOrder = next;
    }
    if (closed || connection().isRetired()) {
      giveBackPending(closed ? "connection_closed" : "retired");
      return;
    }
    if (pending.isEmpty()) {
      return;
    }
    if (before == 0) {
      if (open.isEmpty()) {
        deadlines.busy();
      }
      writePending();
    }
    deadlines.keepLooking();
  }

  private void writePending() {
    flush();
    if (pending.isEmpty() || !context().channel().isWritable()) {
      return;
    }
    nowNanos = System.nanoTime();
    while (!pending.isEmpty() && context().channel().isWritable()) {
      ByteBuf batch = context().alloc().buffer(Math.min(BATCH_BYTES, 2_048 * pending.size()));
      boolean goesOut = false;
      try {
        while (!pending.isEmpty() && batch.readableBytes() < BATCH_BYTES) {
          write(batch, pending.removeFirst());
        }
        goesOut = batch.isReadable();
      } finally {
        if (!goesOut) {
          batch.release();
        }
      }
      if (goesOut) {
        var _ = context().write(batch);
      }
    }
    context().flush();
    deadlines.keepLooking();
  }

  private void write(ByteBuf batch, Exchange exchange) {
    ProviderRequest request = exchange.request;
    int size = request.body().length;
    if (exchange.hasEnded()) {
      connection().left(size);
      return;
    }
    if (request.expiresAt() != null && !clock.instant().isBefore(request.expiresAt())) {
      connection().left(size);
      exchange.end(new Expired());
      return;
    }
    if (nextStream < 0) {
      connection().retire();
      connection().left(size);
      connection().giveBack(exchange, "streams_used_up", false);
      return;
    }
    int stream = nextStream;
    nextStream += 2;
    exchange.stream = stream;
    exchange.writtenNanos = nowNanos;
    open.add(exchange);
    Frames.headers(batch, stream, size == 0, () -> headers.write(batch, tls, authority, request));
    writeBody(batch, exchange);
  }

  /// Writes as much as the stream's window takes. The connection's window has room: otherwise the
  /// request would not have been handed over.
  private void writeBody(ByteBuf to, Exchange exchange) {
    byte[] body = exchange.request.body();
    long room = streamWindow + exchange.windowGrowth - exchange.bodySent;
    while (!exchange.isWhole() && room > 0) {
      int part = (int) Math.min(room, Math.min(Frames.LARGEST, body.length - exchange.bodySent));
      boolean last = exchange.bodySent + part == body.length;
      Frames.data(to, exchange.stream, body, exchange.bodySent, part, last);
      exchange.bodySent += part;
      room -= part;
    }
  }

  private ByteBuf out() {
    ByteBuf gathered = out;
    if (gathered == null) {
      gathered = context().alloc().buffer(256);
      out = gathered;
    }
    return gathered;
  }

  /// A peer that keeps asking and reads nothing would fill our memory.
  private void flush() {
    ByteBuf gathered = out;
    if (gathered == null || closed) {
      return;
    }
    if (context().channel().isWritable()) {
      out = null;
      var _ = context().writeAndFlush(gathered);
    } else if (gathered.readableBytes() > MAX_UNWRITTEN_BYTES) {
      close("not_taken");
    }
  }

  private void sayLast() {
    ByteBuf gathered = out;
    out = null;
    if (gathered != null && context().channel().isWritable()) {
      var _ = context().writeAndFlush(gathered);
    } else if (gathered != null) {
      gathered.release();
    }
  }

  @Override
  public void channelWritabilityChanged(ChannelHandlerContext changed) {
    flush();
    writePending();
  }

  // The streams.

  private void remove(Exchange exchange) {
    open.remove(exchange);
    connection().left(exchange.request.body().length - exchange.bodySent);
    roomMade = true;
  }

  @Nullable Exchange at(int stream) {
    return open.at(stream);
  }

  /// Whether the stream is not open yet, or can never be.
  boolean isIdle(int stream) {
    return (stream & 1) == 0 || (nextStream > 0 && stream >= nextStream);
  }

  void answered(Exchange exchange) {
    deadlines.answered(nowNanos);
    brokenOffInARow = 0;
    remove(exchange);
    if (!exchange.isWhole()) {
      reset(exchange.stream, Http2Error.CANCEL);
    }
    connection().prove();
    exchange.end(exchange.answer());
    closeOnceUnused();
  }

  /// Ends a request that the peer broke off and may have processed. A connection that breaks off
  /// one stream after the other, and answers none in between, is retired.
  void brokenOff(Exchange exchange) {
    brokenOffInARow++;
    if (brokenOffInARow >= MAX_BROKEN_OFF) {
      connection().retire();
    }
    noAnswer(exchange, "stream_reset");
  }

  void noAnswer(Exchange exchange, String why) {
    remove(exchange);
    exchange.end(new NoAnswer(why));
    closeOnceUnused();
  }

  /// Gives back a request that the peer did not process. A connection that refuses it again and
  /// again, and answers no request meanwhile, lets nothing through and is retired.
  void refused(Exchange exchange) {
    exchange.refused(connection(), nowNanos);
    if (exchange.refusals >= Exchange.MAX_REFUSALS - 1
        && !deadlines.answeredSince(exchange.firstRefusedNanos)) {
      connection().retire();
    }
    remove(exchange);
    connection().giveBack(exchange, "refused_stream", true);
    closeOnceUnused();
  }

  /// Ends the request, and tells the peer.
  void cancel(Exchange exchange, String why) {
    if (open.at(exchange.stream) == exchange) {
      reset(exchange.stream, Http2Error.CANCEL);
      flush();
      noAnswer(exchange, why);
      madeRoom();
    }
  }

  void reset(int stream, Http2Error error) {
    Frames.reset(out(), stream, error.code());
  }

  // What the peer asks for.

  void peerSettings(@Nullable Long headerTable, @Nullable Integer initialWindow) {
    if (headerTable != null) {
      headers.peerKeeps(headerTable);
    }
    if (initialWindow != null && initialWindow != streamWindow) {
      boolean larger = initialWindow > streamWindow;
      streamWindow = initialWindow;
      if (larger) {
        open.forEach(exchange -> writeBody(out(), exchange));
      }
    }
    Frames.settingsAck(out());
    roomMade = true;
  }

  void peerPinged(long content) {
    Frames.ping(out(), true, content);
  }

  /// The peer widened the window of one stream.
  void peerWidened(Exchange exchange, int bytes) {
    exchange.windowGrowth += bytes;
    if (streamWindow + exchange.windowGrowth - exchange.bodySent > Integer.MAX_VALUE) {
      reset(exchange.stream, Http2Error.FLOW_CONTROL_ERROR);
      noAnswer(exchange, "flow_control");
      return;
    }
    writeBody(out(), exchange);
  }

  void peerMadeRoom() {
    roomMade = true;
  }

  /// Bytes of bodies were read, so the peer may send as many again.
  void read(int bytes) {
    unreported += bytes;
    if (unreported > CONNECTION_WINDOW / 2) {
      Frames.windowUpdate(out(), 0, (int) unreported);
      unreported = 0;
    }
  }

  /// Requests above the last stream that the peer has processed go elsewhere; the others may end
  /// here. The replacement is opened first.
  void peerGoesAway(int lastStream) {
    connection().retire();
    giveBackPending("goaway");
    for (Exchange one : open.above(lastStream)) {
      remove(one);
      connection().giveBack(one, "goaway", true);
    }
    closeOnceUnused();
  }

  private void giveBackPending(String why) {
    for (Exchange one = pending.pollLast(); one != null; one = pending.pollLast()) {
      connection().left(one.request.body().length);
      connection().giveBack(one, why, false);
    }
  }

  // Reading.

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
    nowNanos = System.nanoTime();
    connection().heard(nowNanos);
    deadlines.heard();
    super.channelRead(ctx, message);
  }

  @Override
  protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
    if (closed) {
      in.skipBytes(in.readableBytes());
      return;
    }
    if (!firstFrameSeen) {
      if (in.readableBytes() < Frames.HEAD_BYTES) {
        return;
      }
      firstFrameSeen = true;
      if (in.getByte(in.readerIndex() + 3) != Frames.SETTINGS) {
        fail(Http2Error.PROTOCOL_ERROR, "does not begin with SETTINGS");
        return;
      }
    }
    try {
      reader.readFrame(ctx, in, frames);
    } catch (Http2Exception e) {
      // Also after an error of a single stream: the reader may stand in the middle of a frame.
      fail(e.error(), e.getMessage());
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    flush();
    madeRoom();
    super.channelReadComplete(ctx);
  }

  private void madeRoom() {
    if (roomMade) {
      roomMade = false;
      connection().madeRoom();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext ctx) throws Exception {
    close("connection_closed");
    super.channelInactive(ctx);
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
    LOG.debug("event=connection_failed peer={} reason=\"{}\"", authority, cause.toString());
    close("connection_failed");
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext ctx) {
    reader.close();
    // Bytes that the peer sent together with the end were answered after it.
    ByteBuf unsaid = out;
    out = null;
    if (unsaid != null) {
      unsaid.release();
    }
  }

  // For [Deadlines].

  void after(Duration wait, Runnable step) {
    var _ =
        context().executor().schedule(() -> guarded(step), wait.toNanos(), TimeUnit.NANOSECONDS);
  }

  /// Whether requests are under way.
  boolean isBusy() {
    return !closed && !(open.isEmpty() && pending.isEmpty());
  }

  @Nullable Exchange oldest() {
    return open.oldest();
  }

  @Nullable Exchange oldestUnwritten() {
    return pending.peekFirst();
  }

  long lastHeardNanos() {
    return connection().lastHeardNanos();
  }

  /// @param answered called when the peer has answered
  void ping(Runnable answered) {
    if (closed) {
      answered.run();
      return;
    }
    askers.add(answered);
    ping();
  }

  void ping() {
    Frames.ping(out(), false, nextStream);
    flush();
  }

  /// Called on the connection's end as well; the caller that sent the PING checks whether the
  /// connection is usable.
  void peerAnsweredPing() {
    askers.forEach(Runnable::run);
    askers.clear();
  }

  /// The peer does not speak HTTP/2.
  void fail(Http2Error error, @Nullable String why) {
    if (closed) {
      return;
    }
    LOG.warn("event=protocol_error peer={} error={} reason=\"{}\"", authority, error, why);
    Frames.goAway(out(), error.code());
    flush();
    close("protocol_error");
  }

  /// Closes the connection. Written requests get no answer, unwritten ones go elsewhere.
  void close(String why) {
    if (closed) {
      return;
    }
    closed = true;
    sayLast();
    Http2Connection left = connection();
    left.retire();
    for (Exchange one = open.oldest(); one != null; one = open.oldest()) {
      remove(one);
      one.end(new NoAnswer(why));
    }
    giveBackPending(why);
    writeSubmitted();
    peerAnsweredPing();
    var _ = context().close();
  }

  /// A retired connection ends with its last request.
  void closeOnceUnused() {
    if (!closed && open.isEmpty() && connection().isRetired()) {
      close("retired");
    }
  }
}
