package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.socket.Wire;
import io.pushplanet.cm.transport.tls.HandshakeLine.Handshake;
import io.pushplanet.cm.transport.tls.TlsLayer;
import io.pushplanet.cm.transport.websocket.WebSocketLayer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// One accepted socket. Confined to its event loop; only [#loop] may be asked from elsewhere.
///
/// It owns memory only while it must: a partial frame, bytes the peer has not taken yet, a TLS engine.
public final class Connection {
  private static final int FLAT_COST = 512;
  private static final int TLS_HANDSHAKE_COST = 16 * 1024;
  private static final int UPGRADE_COST = 4 * 1024;
  // To a stranger goes an upgrade's answer or a refusal.
  private static final int MOST_TO_STRANGERS = 4 * 1024;
  private static final int LESS_WHEN_SCARCE = 16;
  private static final int READS_PER_TURN = 4;
  private static final long WHOLE_WITHIN_NANOS = TimeUnit.SECONDS.toNanos(10);
  // What one read brings, for ten seconds.
  private static final long MOST_UNREAD_BYTE_SECONDS = 10 * 64 * 1024;
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final EventLoop loop;
  private final Wire wire;
  private final Listener listener;
  private final @Nullable TlsLayer tls;
  private final @Nullable WebSocketLayer webSocket;
  private final ConnectionHandler handler;
  // Null once it has shown who it is.
  private @Nullable Stranger stranger;
  private @Nullable PartialFrame partial;
  private @Nullable PendingFrames pending;
  private boolean paused;
  private boolean dirty;
  private boolean closing;
  private boolean closed;
  private boolean peerFinished;
  // By TLS or WebSocket, while what came before has to wait.
  private boolean ended;
  private boolean watched;
  // Of the loop.
  int place;
  // While closing: since when. Else: when the peer last took something.
  private long sinceNanos;

  Connection(EventLoop loop, Wire wire, InetAddress source, Listener listener) {
    this.loop = loop;
    this.wire = wire;
    this.listener = listener;
    this.stranger = new Stranger(source, loop.strangersOf(listener));
    this.tls = listener.tls() == null ? null : new TlsLayer(listener.tls().serverEngine());
    this.webSocket = listener.webSocket() ? new WebSocketLayer() : null;
    this.handler = listener.handlers().apply(this);
    this.sinceNanos = loop.nowNanos();
  }

  public EventLoop loop() {
    return loop;
  }

  public boolean isTls() {
    return tls != null;
  }

  public boolean isWebSocket() {
    return webSocket != null;
  }

  /// Where the peer comes from, until it has shown who it is; null from then on.
  public @Nullable InetAddress source() {
    return stranger == null ? null : stranger.source();
  }

  public boolean isOpen() {
    return !closed && !closing;
  }

  /// Asks the kernel, for a peer that has left is not heard of while reading pauses.
  public void closeIfPeerLeft() {
    if (!closed && wire.hasPeerLeft()) {
      close(CloseCause.PEER);
    }
  }

  public boolean isPaused() {
    return paused;
  }

  /// Whether part of a frame waits here for the rest, and some of it came after that time.
  public boolean hasPartialSince(long nanos) {
    return partial != null && partial.cameAfter(nanos);
  }

  public int pendingBytes() {
    return pending == null ? 0 : pending.bytes();
  }

  /// Something begins that the handler has to be swept for within a second.
  public void watch() {
    if (!watched && !closed) {
      watched = true;
      loop.watch(this);
    }
  }

  boolean isWatched() {
    return watched;
  }

  void unwatched() {
    watched = false;
  }

  /// Takes the frame over; it leaves at the end of this turn. A peer that lets too much wait is closed.
  public void write(byte[] frame) {
    if (webSocket == null) {
      enqueue(frame);
    } else if (!webSocket.isFinished()) {
      enqueue(WebSocketLayer.framed(frame));
    }
  }

  private void enqueue(byte[] frame) {
    if (closed || closing) {
      return;
    }
    int most = stranger == null ? listener.pendingBytes() : MOST_TO_STRANGERS;
    if ((pending == null ? 0 : pending.cost()) + frame.length > most) {
      close(CloseCause.SLOW_READER);
      return;
    }
    if (pending == null) {
      pending = new PendingFrames();
      sinceNanos = loop.nowNanos();
    }
    pending.add(frame);
    markDirty();
  }

  /// Drops what waits to be sent.
  ///
  /// @return false where the peer may have part of a frame already: then nothing is dropped, and nothing else can follow
  public boolean dropPending() {
    boolean begun =
        (pending != null && pending.hasBegun()) || (tls != null && tls.unsent() != null);
    if (!begun) {
      pending = null;
    }
    return !begun;
  }

  /// Sends what is pending, says goodbye, and lingers until the peer has read it: closing with unread bytes in the
  /// receive buffer would reset the connection and destroy our last packet on its way.
  public void closeAfterFlush() {
    if (closed || closing) {
      return;
    }
    if (webSocket != null) {
      webSocket.goodbye().ifPresent(this::enqueue);
    }
    if (closed) {
      return;
    }
    closing = true;
    sinceNanos = loop.nowNanos();
    releasePartial();
    paused = false;
    wire.reading(true);
    markDirty();
  }

  /// After the peer's own goodbye: WebSocket and TLS have a word for it that is still to be said.
  public void closeInReturn() {
    if (tls == null && webSocket == null) {
      close(CloseCause.OURS);
    } else {
      closeAfterFlush();
    }
  }

  public void close(CloseCause cause) {
    if (closed) {
      return;
    }
    closed = true;
    if (tls != null) {
      tls.abandon();
    }
    releasePartial();
    if (stranger != null) {
      stranger.giveBackAll();
    } else if (tls != null && isCounted()) {
      loop.partials.giveBack(tls.kept());
    }
    pending = null;
    wire.close();
    loop.left(this);
    loop.metrics.closed(cause);
    handler.closed(cause);
  }

  /// The peer has shown who it is: what it makes us hold no longer counts against the unauthenticated bytes, but what came of a frame whose
  /// rest has not counts among those of all who are known.
  public void authenticated() {
    if (stranger == null) {
      return;
    }
    stranger.giveBackAll();
    stranger = null;
    int kept = kept();
    if (kept > 0 && isCounted() && !loop.partials.hold(kept)) {
      // Not now: whoever calls is about to answer.
      loop.execute(this::crowded);
    }
  }

  private int kept() {
    return (partial == null ? 0 : partial.capacity()) + (tls == null ? 0 : tls.kept());
  }

  /// Whether what is kept for a peer that is known has to be bounded: programs of our own are few.
  private boolean isCounted() {
    return !listener.trusted();
  }

  private void crowded() {
    if (isOpen()) {
      loop.pressure.felt(Pressure.Kind.PARTIAL_BYTES, loop.nowNanos());
      handler.crowded();
      closeAfterFlush();
    }
  }

  /// Leaves bytes in the kernel until [#resumeReading]; what has been read already is kept.
  public void pauseReading() {
    if (!closed && !closing) {
      // The poller is told only when something comes meanwhile: mostly nothing does.
      paused = true;
    }
  }

  /// Offers what was kept and reads on.
  public void resumeReading() {
    if (!paused || closed || closing) {
      return;
    }
    paused = false;
    wire.reading(true);
    if (tls != null) {
      tls.excuse(loop.nowNanos());
    }
    if (partial != null) {
      partial.excuse(loop.nowNanos());
      deliver(ByteBuffer.allocate(0));
    }
    if (ended) {
      ended();
    }
  }

  /// The end of what the peer sends. What came before it is obeyed first: a DISCONNECT among it discards the will.
  private void ended() {
    ended = paused;
    if (ended || !isOpen()) {
      return;
    }
    if (webSocket != null && webSocket.isFinished()) {
      closeAfterFlush();
    } else {
      close(tls == null || lastWord(tls) ? CloseCause.PEER : CloseCause.TLS);
    }
  }

  void opened() {
    int layers = (tls == null ? 0 : TLS_HANDSHAKE_COST) + (webSocket == null ? 0 : UPGRADE_COST);
    if (stranger != null && !stranger.take(FLAT_COST + layers)) {
      close(CloseCause.UNAUTHENTICATED_BYTES);
    }
  }

  void ready(boolean readable, boolean writable) throws IOException {
    if (readable) {
      readable();
    }
    if (writable) {
      markDirty();
    }
  }

  void readable() throws IOException {
    if (paused) {
      wire.reading(false);
      return;
    }
    var buffer = loop.readBuffer;
    for (int count = 0; count < READS_PER_TURN && !paused && !closed; count++) {
      buffer.clear();
      int read = wire.read(buffer);
      if (read < 0) {
        peerFinished = true;
        close(closing ? CloseCause.OURS : CloseCause.PEER);
        return;
      }
      if (read == 0) {
        return;
      }
      loop.metrics.bytesRead.increment(read);
      buffer.flip();
      if (closing) {
        continue;
      }
      if (tls == null) {
        arrived(buffer);
      } else {
        decrypt(tls, buffer);
      }
      if (read < buffer.capacity()) {
        return;
      }
    }
  }

  private void decrypt(TlsLayer layer, ByteBuffer cipher) throws IOException {
    var progress = read(layer, cipher);
    if (closed) {
      // By what has arrived; its bytes are given back, and no more may be taken.
      return;
    }
    if (!charge(layer)) {
      overdrawn();
      if (closed) {
        return;
      }
    }
    markDirty();
    switch (progress) {
      case WAITING -> {}
      case TASKS -> {
        boolean roomy =
            loop.handshakes.add(
                new Handshake(
                    layer::runTasks,
                    layer::isWanted,
                    () -> loop.execute(() -> handshakeOn(layer)),
                    () -> loop.execute(() -> close(CloseCause.HANDSHAKE_GIVEN_UP))));
        if (!roomy) {
          loop.pressure.felt(Pressure.Kind.HANDSHAKES, loop.nowNanos());
        }
      }
      case CLOSED -> ended();
    }
  }

  private TlsLayer.Progress read(TlsLayer layer, ByteBuffer cipher) throws IOException {
    try {
      return layer.receive(cipher, loop.plainBuffer, this::arrived, loop.nowNanos());
    } catch (SSLException refused) {
      if (!closed) {
        lastWord(layer);
        close(CloseCause.TLS);
      }
      return TlsLayer.Progress.WAITING;
    }
  }

  /// TLS's own goodbye, or why it refuses the peer.
  ///
  /// @return false when it refuses: the engine first throws what its task threw, and has its alert then
  private boolean lastWord(TlsLayer layer) {
    boolean takes = true;
    for (int tries = 0; tries < 2; tries++) {
      try {
        loop.cipherOut.sendHandshake(layer, wire);
        return takes;
      } catch (SSLException refused) {
        takes = false;
      } catch (IOException gone) {
        return takes;
      }
    }
    return takes;
  }

  /// What came of a TLS record counts before the record is whole.
  private boolean charge(TlsLayer layer) {
    int more = layer.keptMore();
    if (stranger == null) {
      return !isCounted() || loop.partials.hold(more) || more <= 0;
    }
    if (more > 0) {
      return stranger.take(more);
    }
    stranger.giveBack(-more);
    return true;
  }

  private void handshakeOn(TlsLayer layer) {
    if (closed) {
      return;
    }
    layer.tasksDone();
    try {
      decrypt(layer, ByteBuffer.allocate(0));
    } catch (IOException failed) {
      close(CloseCause.TLS);
    }
  }

  /// Bytes of the peer without TLS.
  private void arrived(ByteBuffer input) {
    var layer = webSocket;
    if (layer == null) {
      deliver(input);
    } else if (layer.receive(input, this::deliver, this::enqueue)
        == WebSocketLayer.Progress.FINISHED) {
      ended();
    }
  }

  private void deliver(ByteBuffer input) {
    if (closed || closing) {
      input.position(input.limit());
      return;
    }
    var held = partial;
    if (held == null) {
      if (!paused) {
        handler.received(input);
      }
      if (input.hasRemaining()) {
        keep(input, loop.nowNanos());
      }
      return;
    }
    if (!append(held, input) || paused) {
      return;
    }
    var whole = held.flip();
    handler.received(whole);
    // Who is paused again has not been read to the end, however often this happens.
    long readNanos = paused ? held.readNanos() : loop.nowNanos();
    if (closed || closing || !whole.hasRemaining()) {
      releasePartial();
    } else if (held.isRoomyFor(whole)) {
      // It held another frame, too: a byte or two would take its room for as long as they are
      // there.
      releasePartial();
      keep(whole, readNanos);
    } else {
      held.keepRest(readNanos);
    }
  }

  private void keep(ByteBuffer rest, long readNanos) {
    if (closed || closing) {
      rest.position(rest.limit());
      return;
    }
    // First, as it may find no room on the heap.
    var kept = new PartialFrame(rest, loop.nowNanos(), readNanos);
    if (take(kept.capacity())) {
      partial = kept;
    } else {
      overdrawn();
    }
  }

  private boolean append(PartialFrame held, ByteBuffer input) {
    int growth = held.growthFor(input);
    if (growth > 0 && !take(growth)) {
      input.position(input.limit());
      overdrawn();
      return false;
    }
    try {
      held.append(input, loop.nowNanos());
    } catch (OutOfMemoryError full) {
      giveBack(growth);
      throw full;
    }
    return true;
  }

  private boolean take(int bytes) {
    return stranger == null ? !isCounted() || loop.partials.take(bytes) : stranger.take(bytes);
  }

  /// Where [#take] said no.
  private void overdrawn() {
    if (stranger == null) {
      crowded();
    } else {
      close(CloseCause.UNAUTHENTICATED_BYTES);
    }
  }

  private void giveBack(int bytes) {
    if (stranger != null) {
      stranger.giveBack(bytes);
    } else if (isCounted()) {
      loop.partials.giveBack(bytes);
    }
  }

  private void releasePartial() {
    if (partial != null) {
      giveBack(partial.capacity());
    }
    partial = null;
  }

  private void markDirty() {
    if (!dirty && !closed) {
      dirty = true;
      loop.markDirty(this);
      watch();
    }
  }

  void flush() throws IOException {
    dirty = false;
    if (closed) {
      return;
    }
    if (tls != null && !sendUnsent(tls)) {
      closeWhoTakesTooLittle();
      return;
    }
    var queue = pending;
    while (queue != null && !queue.isEmpty()) {
      boolean all = tls == null ? writePlain(queue) : writeSealed(tls, queue);
      if (!all) {
        wire.writing(true);
        closeWhoTakesTooLittle();
        return;
      }
    }
    boolean wrote = queue != null;
    pending = null;
    if (tls != null) {
      if (!loop.cipherOut.sendHandshake(tls, wire)) {
        return;
      }
      if (tls.hasKept() && !closing) {
        decrypt(tls, ByteBuffer.allocate(0));
      }
      if (closed || pending != null) {
        // What was answered leaves before a goodbye does: in another flush of this turn.
        return;
      }
    }
    wire.writing(false);
    if (closing) {
      finish();
    } else if (wrote) {
      handler.flushed();
    }
  }

  /// Where the kernel has no room for more. While the loop stands still nothing is written, which says nothing of the device.
  private void closeWhoTakesTooLittle() {
    if (isTooMuchForNow(waitingCost()) && loop.isAwake()) {
      close(CloseCause.SLOW_READER);
    }
  }

  /// What the kernel has not taken takes of the heap.
  private int waitingCost() {
    int sealed = tls != null && tls.unsent() != null ? tls.unsent().remaining() : 0;
    return sealed + (pending == null ? 0 : pending.cost());
  }

  /// What the kernel has not taken, or what came of a peer that is not read, while the heap is nearly full: thousands of these have no
  /// bound together.
  private boolean isTooMuchForNow(int bytes) {
    return loop.heap.isFull()
        && !listener.trusted()
        && bytes > listener.pendingBytes() / LESS_WHEN_SCARCE;
  }

  private void finish() throws IOException {
    if (tls != null) {
      tls.closeOutbound();
      if (!loop.cipherOut.sendHandshake(tls, wire)) {
        return;
      }
    }
    if (peerFinished) {
      close(CloseCause.OURS);
    } else {
      wire.shutdownOutput();
    }
  }

  /// Gathers frames into the loop's direct buffer, so that a turn's frames leave in one system call.
  private boolean writePlain(PendingFrames queue) throws IOException {
    var out = loop.writeBuffer;
    out.clear();
    queue.copyTo(out);
    out.flip();
    int written = loop.isAwake() ? wire.write(out) : 0;
    loop.metrics.bytesWritten.increment(written);
    consume(queue, written);
    return !out.hasRemaining();
  }

  private boolean writeSealed(TlsLayer layer, PendingFrames queue) throws IOException {
    int taken = loop.cipherOut.send(layer, wire, queue);
    consume(queue, taken);
    return layer.unsent() == null && taken > 0;
  }

  private boolean sendUnsent(TlsLayer layer) throws IOException {
    progressed(loop.cipherOut.sendUnsent(layer, wire));
    return layer.unsent() == null;
  }

  private void consume(PendingFrames queue, int bytes) {
    progressed(bytes);
    queue.taken(bytes);
  }

  private void progressed(int bytes) {
    if (bytes > 0 && !closing) {
      sinceNanos = loop.nowNanos();
    }
  }

  /// @return whether it has to be looked at again in a second
  boolean sweep(long nowNanos) {
    if (closed) {
      return false;
    }
    if (closing) {
      if (nowNanos - sinceNanos > LINGER_NANOS) {
        close(CloseCause.OURS);
      }
      return !closed;
    }
    int waitingCost = waitingCost();
    boolean waiting = waitingCost > 0;
    boolean stalled = waiting && nowNanos - sinceNanos > loop.settings.writeStall().toNanos();
    // Nobody has asked the kernel yet to take what was written in this turn.
    if (stalled || (!dirty && isTooMuchForNow(waitingCost))) {
      close(CloseCause.SLOW_READER);
      return false;
    }
    if (paused && partial != null && isTooMuchForNow(partial.capacity())) {
      close(CloseCause.UNREAD_BYTES);
      return false;
    }
    if (isTooOldForNow(nowNanos) || isUnreadTooLongForNow(nowNanos)) {
      crowded();
      return !closed;
    }
    boolean busy = handler.swept(nowNanos);
    return busy || waiting;
  }

  /// The pieces of an honest frame, or TLS record, come within moments: whoever lets the rest wait, or drips it, makes room for those of others when there is
  /// no other.
  private boolean isTooOldForNow(long nowNanos) {
    return !paused && isCrowdedNow() && hasPartialOfBefore(nowNanos - WHOLE_WITHIN_NANOS);
  }

  /// Who publishes too fast is read slowly, and what waits here meanwhile makes room, too: the sooner the more it is, for it is little with those who are slowed now and
  /// then.
  private boolean isUnreadTooLongForNow(long nowNanos) {
    if (!paused || partial == null || !isCrowdedNow()) {
      return false;
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(nowNanos - partial.readNanos());
    return seconds * kept() > MOST_UNREAD_BYTE_SECONDS;
  }

  private boolean isCrowdedNow() {
    return stranger == null && isCounted() && loop.partials.isNearlySpent();
  }

  private boolean hasPartialOfBefore(long nanos) {
    return (partial != null && partial.beganBefore(nanos))
        || (tls != null && tls.hasPartialOfBefore(nanos));
  }
}
