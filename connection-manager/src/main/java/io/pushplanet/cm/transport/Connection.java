package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.socket.Wire;
import io.pushplanet.cm.transport.tls.HandshakeQueue.Handshake;
import io.pushplanet.cm.transport.tls.TlsLayer;
import io.pushplanet.cm.transport.websocket.WebSocketLayer;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// One accepted socket. Confined to its event loop; only [#loop] may be called from other threads.
///
/// It owns memory only while it must: a partial frame, bytes that the peer has not read yet, a TLS
/// engine.
public final class Connection {
  private static final int SOCKET_BYTES = 512;
  private static final int TLS_HANDSHAKE_BYTES = 16 * 1024;
  private static final int UPGRADE_BYTES = 4 * 1024;

  /// An unauthenticated peer gets no more than the answer to its upgrade, or a refusal.
  private static final int MAX_UNAUTHENTICATED_PENDING_BYTES = 4 * 1024;

  private static final int READS_PER_TURN = 4;
  private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final EventLoop loop;
  private final Wire wire;
  private final Listener listener;
  private final @Nullable TlsLayer tls;
  private final @Nullable WebSocketLayer webSocket;
  private final ConnectionHandler handler;
  // An UnauthenticatedPeer until the peer has authenticated, then shared with others.
  private KeptBytes counted;
  private @Nullable PartialFrame partial;
  private @Nullable PendingFrames pending;
  private boolean paused;
  private boolean dirty;
  private boolean closing;
  private boolean closed;
  private boolean peerFinished;
  private boolean pathDead;
  // TLS or WebSocket has ended, while earlier bytes still wait to be read.
  private boolean ended;
  private boolean watched;
  // The index in the loop's list.
  int place;
  // While closing: when that began. Otherwise: when the peer last took bytes.
  private long sinceNanos;

  Connection(EventLoop loop, Wire wire, InetAddress source, Listener listener) {
    this.loop = loop;
    this.wire = wire;
    this.listener = listener;
    this.counted = new UnauthenticatedPeer(source, loop.unauthenticatedBudget(listener));
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

  /// The peer's address until it has authenticated; null from then on.
  public @Nullable InetAddress source() {
    return counted instanceof UnauthenticatedPeer peer ? peer.source() : null;
  }

  public boolean isOpen() {
    return !closed && !closing;
  }

  /// Asks the kernel, because a peer that has left is not noticed while reading pauses.
  public void closeIfPeerLeft() {
    if (!closed && wire.hasPeerLeft()) {
      close(CloseCause.PEER);
    }
  }

  public boolean isPaused() {
    return paused;
  }

  /// Whether part of a frame waits here for its rest, and some of it came after that time.
  public boolean hasPartialSince(long nanos) {
    return partial != null && partial.cameAfter(nanos);
  }

  public int pendingBytes() {
    return pending == null ? 0 : pending.bytes();
  }

  /// From now on the handler is swept every second.
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

  /// Sends the frame at the end of this turn; the array belongs to the connection now. A peer with
  /// too many waiting bytes is closed.
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
    int most = isAuthenticated() ? listener.pendingBytes() : MAX_UNAUTHENTICATED_PENDING_BYTES;
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

  /// Drops the frames that wait to be sent.
  ///
  /// @return false if the peer may have part of a frame already: then nothing is dropped, and no
  ///     other frame can follow
  public boolean dropPending() {
    boolean begun =
        (pending != null && pending.hasBegun()) || (tls != null && tls.unsent() != null);
    if (!begun) {
      pending = null;
    }
    return !begun;
  }

  /// Ends the connection for the handler at once. The socket sends the pending frames, ends the
  /// stream, and lingers until the peer has read them: a close with unread bytes in the receive
  /// buffer would reset the connection and destroy our last packet on its way.
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
    handler.closed(CloseCause.OURS);
  }

  /// Closes after the peer has closed: WebSocket and TLS still have to answer with a close of their
  /// own.
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
    if (counted instanceof UnauthenticatedPeer peer) {
      peer.giveBackAll();
    } else if (tls != null) {
      counted.giveBack(tls.kept());
    }
    pending = null;
    wire.close();
    loop.left(this);
    loop.metrics.closed(cause);
    if (!closing) {
      // Otherwise the handler heard of the end when the lingering began.
      handler.closed(cause);
    }
  }

  /// The peer has authenticated: its bytes no longer count as unauthenticated, but its partial
  /// frame counts among those of all authenticated peers.
  public void authenticated() {
    if (!(counted instanceof UnauthenticatedPeer peer)) {
      return;
    }
    peer.giveBackAll();
    counted = loop.authenticated(listener);
    if (!counted.change(kept())) {
      // In a later task, because the caller is about to answer.
      loop.execute(this::crowded);
    }
  }

  private int kept() {
    return (partial == null ? 0 : partial.capacity()) + (tls == null ? 0 : tls.kept());
  }

  private boolean isAuthenticated() {
    return !(counted instanceof UnauthenticatedPeer);
  }

  private void crowded() {
    if (isOpen()) {
      loop.pressure.felt(Pressure.Kind.PARTIAL_BYTES, loop.nowNanos());
      handler.crowded();
      closeAfterFlush();
    }
  }

  /// Leaves bytes in the kernel until [#resumeReading]; bytes that have been read already are kept.
  public void pauseReading() {
    if (!closed && !closing) {
      // The poller is told only when more bytes arrive; usually none do.
      paused = true;
    }
  }

  /// Offers the kept bytes to the handler and continues reading. An error of the handler closes the
  /// connection.
  public void resumeReading() {
    if (paused && !closed && !closing) {
      // Most callers are tasks of the loop, whose errors would leave the connection open.
      loop.guarded(this, this::readOn);
    }
  }

  private void readOn() {
    paused = false;
    wire.reading(true);
    if (tls != null) {
      tls.restartDeadline(loop.nowNanos());
    }
    if (partial != null) {
      partial.restartDeadline(loop.nowNanos());
      deliver(ByteBuffer.allocate(0));
    }
    if (ended) {
      ended();
    }
  }

  /// The peer has ended its stream. Packets from before the end are handled first: a DISCONNECT
  /// among them discards the will.
  private void ended() {
    ended = paused;
    if (ended || !isOpen()) {
      return;
    }
    if (webSocket != null && webSocket.isFinished()) {
      closeAfterFlush();
    } else {
      close(tls == null || loop.output.sendEnd(tls, wire) ? CloseCause.PEER : CloseCause.TLS);
    }
  }

  void opened() {
    int layers = (tls == null ? 0 : TLS_HANDSHAKE_BYTES) + (webSocket == null ? 0 : UPGRADE_BYTES);
    if (counted instanceof UnauthenticatedPeer peer && !peer.take(SOCKET_BYTES + layers)) {
      close(CloseCause.UNAUTHENTICATED_BYTES);
    }
  }

  void stopping() {
    if (isOpen()) {
      handler.stopping();
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
    if (paused || (peerFinished && !closing)) {
      wire.reading(false);
      return;
    }
    ByteBuffer buffer = loop.readBuffer;
    for (int count = 0; count < READS_PER_TURN && !paused && !closed; count++) {
      buffer.clear();
      int read = wire.read(buffer);
      if (read < 0) {
        peerLeft();
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

  /// The peer has ended its stream, or the connection is broken. Where many leave at once, the
  /// close comes some turns later.
  void peerLeft() {
    if (closing) {
      close(CloseCause.OURS);
    } else if (!peerFinished && !closed) {
      peerFinished = true;
      wire.reading(false);
      loop.peerLeft(this);
    }
  }

  /// As [#peerLeft], with another cause of the close.
  void pathDied() {
    pathDead = true;
    peerLeft();
  }

  /// Follows [#peerLeft].
  void closeAfterPeer() {
    close(pathDead ? CloseCause.DEAD_PATH : CloseCause.PEER);
  }

  private void decrypt(TlsLayer layer, ByteBuffer cipher) throws IOException {
    TlsLayer.Progress progress = read(layer, cipher);
    if (closed) {
      // The decrypted bytes closed the connection, which has given back its share of the budget; it
      // must not take more.
      return;
    }
    // Bytes of a TLS record count before the record is complete.
    if (!counted.change(layer.keptMore())) {
      budgetExceeded();
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
        loop.output.sendEnd(layer, wire);
        close(CloseCause.TLS);
      }
      return TlsLayer.Progress.WAITING;
    }
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

  /// Handles bytes of the peer without TLS.
  private void arrived(ByteBuffer input) {
    WebSocketLayer layer = webSocket;
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
    PartialFrame held = partial;
    if (held == null) {
      if (!paused) {
        handler.received(input);
      }
      if (input.hasRemaining()) {
        keep(input, loop.nowNanos());
      }
      return;
    }
    if (!held.append(input, loop.nowNanos(), counted)) {
      input.position(input.limit());
      budgetExceeded();
      return;
    }
    if (paused) {
      return;
    }
    ByteBuffer whole = held.flip();
    handler.received(whole);
    // A peer that is paused again has not been read to the end, however often this happens.
    long readNanos = paused ? held.readNanos() : loop.nowNanos();
    if (closed || closing || !whole.hasRemaining()) {
      releasePartial();
    } else if (held.isRoomyFor(whole)) {
      // It also held another frame: a few bytes would occupy that frame's memory as long as they
      // are here.
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
    partial = PartialFrame.of(rest, loop.nowNanos(), readNanos, counted);
    if (partial == null) {
      budgetExceeded();
    }
  }

  private void budgetExceeded() {
    if (isAuthenticated()) {
      crowded();
    } else {
      close(CloseCause.UNAUTHENTICATED_BYTES);
    }
  }

  private void releasePartial() {
    if (partial != null) {
      counted.giveBack(partial.capacity());
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
      closeSlowReader();
      return;
    }
    PendingFrames queue = pending;
    while (queue != null && !queue.isEmpty()) {
      int before = queue.bytes();
      boolean all =
          tls == null ? loop.output.send(queue, wire) : loop.output.send(queue, tls, wire);
      progressed(before - queue.bytes());
      if (!all) {
        wire.writing(true);
        closeSlowReader();
        return;
      }
    }
    boolean wrote = queue != null;
    pending = null;
    if (tls != null) {
      if (!loop.output.sendHandshake(tls, wire)) {
        return;
      }
      if (tls.hasKept() && !closing) {
        decrypt(tls, ByteBuffer.allocate(0));
      }
      if (closed || pending != null) {
        // Answers leave before a close does, in another flush of this turn.
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

  /// Called when the kernel has no room for more. While the loop stands still no bytes are written,
  /// which says nothing about the peer.
  private void closeSlowReader() {
    if (loop.shedding.isTooMuch(waitingCost(), listener) && loop.isAwake()) {
      close(CloseCause.SLOW_READER);
    }
  }

  /// The heap that bytes take which the kernel has not taken.
  private int waitingCost() {
    int sealed = tls != null && tls.unsent() != null ? tls.unsent().remaining() : 0;
    return sealed + (pending == null ? 0 : pending.cost());
  }

  private void finish() throws IOException {
    if (tls != null) {
      tls.closeOutbound();
      if (!loop.output.sendHandshake(tls, wire)) {
        return;
      }
    }
    if (peerFinished) {
      close(CloseCause.OURS);
    } else {
      wire.shutdownOutput();
    }
  }

  private boolean sendUnsent(TlsLayer layer) throws IOException {
    progressed(loop.output.sendUnsent(layer, wire));
    return layer.unsent() == null;
  }

  private void progressed(int bytes) {
    if (bytes > 0 && !closing) {
      sinceNanos = loop.nowNanos();
    }
  }

  /// @return whether the connection must be swept again in a second
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
    // Bytes of this turn have not been offered to the kernel yet.
    if (stalled || (!dirty && loop.shedding.isTooMuch(waitingCost, listener))) {
      close(CloseCause.SLOW_READER);
      return false;
    }
    if (paused && partial != null && loop.shedding.isTooMuch(partial.capacity(), listener)) {
      close(CloseCause.UNREAD_BYTES);
      return false;
    }
    if (isKeptTooLong(nowNanos)) {
      crowded();
      return !closed;
    }
    boolean busy = handler.swept(nowNanos);
    // A connection that the handler has ended just now lingers.
    return !closed && (busy || waiting || closing);
  }

  private boolean isKeptTooLong(long nowNanos) {
    if (!isAuthenticated() || listener.trusted()) {
      return false;
    }
    return paused
        ? partial != null && loop.shedding.isUnreadTooLong(partial, kept(), nowNanos)
        : loop.shedding.isTooOld(partial, tls, nowNanos);
  }
}
