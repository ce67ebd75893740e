package io.pushplanet.cm.transport.tls;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// One connection's TLS. Confined to its event loop, except [#isWanted] and [#runTasks]. The loop
/// hands [#runTasks] to another thread and does not touch the engine until [#tasksDone].
public final class TlsLayer {
  /// One record: 16 KB plain text, header, tag, padding.
  private static final int MAX_RECORD_BYTES = 17 * 1024;

  /// A handshake takes three records, and an honest peer changes its keys once in millions. Each
  /// key change costs this node a record, new keys and a turn.
  private static final int MAX_RECORDS_WITHOUT_TEXT = 32;

  /// What [#receive] needs next.
  public enum Progress {
    WAITING,
    TASKS,
    CLOSED
  }

  private final SSLEngine engine;
  private @Nullable Kept kept;
  private @Nullable ByteBuffer unsent;
  private boolean tasksRunning;
  // The kept bytes are the start of a record whose rest has not come.
  private boolean starved;
  private int keptTold;
  private int withoutText;
  private volatile boolean abandoned;

  /// Ciphertext that could not be decrypted yet.
  ///
  /// @param beganNanos when the first byte of its record came
  private record Kept(ByteBuffer bytes, long beganNanos) {}

  public TlsLayer(SSLEngine engine) {
    this.engine = engine;
  }

  /// Takes all of `cipher`; hands plain text to `plain`, using `scratch`, which belongs to the
  /// loop.
  public Progress receive(
      ByteBuffer cipher, ByteBuffer scratch, Consumer<ByteBuffer> plain, long nowNanos)
      throws IOException {
    long beganNanos = kept == null ? nowNanos : kept.beganNanos();
    ByteBuffer input = joined(cipher);
    starved = false;
    if (tasksRunning) {
      keep(input, beganNanos);
      return Progress.WAITING;
    }
    while (true) {
      if (engine.isInboundDone()) {
        return Progress.CLOSED;
      }
      HandshakeStatus status = engine.getHandshakeStatus();
      if (status == HandshakeStatus.NEED_TASK) {
        keep(input, beganNanos);
        tasksRunning = true;
        return Progress.TASKS;
      }
      if (status == HandshakeStatus.NEED_WRAP) {
        // The connection flushes next and calls again with the bytes that come then.
        keep(input, beganNanos);
        return Progress.WAITING;
      }
      if (!input.hasRemaining()) {
        kept = null;
        return Progress.WAITING;
      }
      scratch.clear();
      SSLEngineResult result = engine.unwrap(input, scratch);
      if (result.bytesConsumed() > 0) {
        beganNanos = nowNanos;
      }
      if (scratch.position() > 0) {
        plain.accept(scratch.flip());
      } else if (result.bytesConsumed() > 0 && ++withoutText > MAX_RECORDS_WITHOUT_TEXT) {
        throw new SSLException("too many TLS records without text");
      }
      switch (result.getStatus()) {
        case OK -> {}
        case BUFFER_UNDERFLOW -> {
          keep(input, beganNanos);
          starved = true;
          return Progress.WAITING;
        }
        case BUFFER_OVERFLOW -> throw new SSLException("a TLS record over its limit");
        case CLOSED -> {
          return Progress.CLOSED;
        }
      }
    }
  }

  /// Runs the blocking work of a handshake (signatures, key agreement).
  public void runTasks() {
    Runnable task;
    while ((task = engine.getDelegatedTask()) != null) {
      task.run();
    }
  }

  public void tasksDone() {
    tasksRunning = false;
  }

  /// The connection has gone, so its waiting work is not needed.
  public void abandon() {
    abandoned = true;
    unsent = null;
  }

  public boolean isWanted() {
    return !abandoned;
  }

  /// Encrypts one record's worth of `plain` (or a handshake message) into `out`; returns how much
  /// plain text was taken.
  public int seal(ByteBuffer plain, ByteBuffer out) throws IOException {
    SSLEngineResult result = engine.wrap(plain, out);
    if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
      throw new SSLException("the loop's buffer is too small for a TLS record");
    }
    return result.bytesConsumed();
  }

  /// The rest of [#seal]'s output that the peer has not taken; null when there is none.
  public @Nullable ByteBuffer unsent() {
    return unsent;
  }

  public void keepUnsent(ByteBuffer cipher) {
    unsent = ByteBuffer.allocate(cipher.remaining()).put(cipher).flip();
  }

  public void sentAll() {
    unsent = null;
  }

  public boolean wantsToSend() {
    return !tasksRunning && engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP;
  }

  /// Whether kept ciphertext can be decrypted now, without further bytes.
  public boolean hasKept() {
    return kept != null
        && !starved
        && !tasksRunning
        && engine.getHandshakeStatus() != HandshakeStatus.NEED_WRAP;
  }

  /// Whether an incomplete record began before that time.
  public boolean hasPartialOfBefore(long nanos) {
    return starved && kept != null && kept.beganNanos() - nanos < 0;
  }

  /// The peer was not read until now, so the missing rest of a record is not its fault.
  public void restartDeadline(long nowNanos) {
    if (kept != null) {
      kept = new Kept(kept.bytes(), nowNanos);
    }
  }

  /// By how many bytes the kept ciphertext has grown since the last call; negative if it has
  /// shrunk.
  public int keptMore() {
    int now = kept == null ? 0 : kept.bytes().remaining();
    int more = now - keptTold;
    keptTold = now;
    return more;
  }

  /// The bytes that the last call of [#keptMore] found.
  public int kept() {
    return keptTold;
  }

  public void closeOutbound() {
    engine.closeOutbound();
  }

  private ByteBuffer joined(ByteBuffer cipher) throws SSLException {
    if (kept == null) {
      return cipher;
    }
    ByteBuffer held = kept.bytes();
    if (held.remaining() + cipher.remaining() > 8 * MAX_RECORD_BYTES) {
      throw new SSLException("too much ciphertext before the handshake goes on");
    }
    kept = null;
    return ByteBuffer.allocate(held.remaining() + cipher.remaining()).put(held).put(cipher).flip();
  }

  private void keep(ByteBuffer input, long beganNanos) {
    kept =
        input.hasRemaining()
            ? new Kept(ByteBuffer.allocate(input.remaining()).put(input).flip(), beganNanos)
            : null;
  }
}
