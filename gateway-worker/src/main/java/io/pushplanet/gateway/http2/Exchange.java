package io.pushplanet.gateway.http2;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2Headers;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/// One request and its end. The first caller that ends it decides how. The fields of its stream are
/// confined to the event loop of the connection that carries it, the fields of its wait to the lock
/// of [CredentialConnections].
final class Exchange {
  static final int MAX_BODY_BYTES = 64 * 1024;

  /// Refusals by REFUSED_STREAM. The last try is on another connection, if this one answered no
  /// request meanwhile.
  static final int MAX_REFUSALS = 5;

  private static final VarHandle REPLY = reply();
  private static final byte[] NOTHING = {};

  final ProviderRequest request;

  // Of its wait for a stream.
  long waitsUntilNanos;
  int written;
  int refusals;
  long firstRefusedNanos;
  @Nullable Http2Connection refusedBy;

  // Shared by the sender and the event loop.
  @Nullable Exchange submittedBefore;
  volatile @Nullable Http2Connection connection;

  // Of its stream.
  int stream;
  int bodySent;
  long windowGrowth;
  long writtenNanos;
  @Nullable Exchange olderStream;
  @Nullable Exchange newerStream;
  private int status;
  private Map<String, String> headers = Map.of();
  private byte[] body = NOTHING;
  private int bodyBytes;

  private volatile @Nullable Thread waiter;

  @SuppressWarnings("UnusedVariable") // through REPLY
  private volatile @Nullable Reply reply;

  Exchange(ProviderRequest request) {
    this.request = request;
  }

  /// @return whether this call ended it
  boolean end(Reply end) {
    if (!REPLY.compareAndSet(this, null, end)) {
      return false;
    }
    LockSupport.unpark(waiter);
    return true;
  }

  boolean hasEnded() {
    return reply != null;
  }

  /// Waits without a deadline of its own: the connections end every exchange in time, both while it
  /// waits for a stream and while it waits for its answer.
  Reply await() throws InterruptedException {
    waiter = Thread.currentThread();
    Reply end = reply;
    while (end == null) {
      LockSupport.park(this);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      end = reply;
    }
    return end;
  }

  void refused(Http2Connection by, long nowNanos) {
    refusedBy = by;
    refusals++;
    if (refusals == 1) {
      firstRefusedNanos = nowNanos;
    }
  }

  /// Makes it ready for another stream.
  void startsOver() {
    stream = 0;
    bodySent = 0;
    windowGrowth = 0;
    status = 0;
    headers = Map.of();
    body = NOTHING;
    bodyBytes = 0;
  }

  boolean isWhole() {
    return bodySent == request.body().length;
  }

  boolean hasHead() {
    return status > 0;
  }

  /// Keeps the answer's head, without the fields that only frame it.
  void answered(int answeredStatus, Http2Headers answeredHeaders) {
    status = answeredStatus;
    Map<String, String> named = new HashMap<>();
    for (Map.Entry<CharSequence, CharSequence> header : answeredHeaders) {
      if (header.getKey().length() > 0 && header.getKey().charAt(0) != ':') {
        named.putIfAbsent(header.getKey().toString(), header.getValue().toString());
      }
    }
    headers = named;
  }

  /// @return whether there was room for all of it
  boolean bodyRead(ByteBuf data) {
    int length = Math.min(data.readableBytes(), MAX_BODY_BYTES - bodyBytes);
    if (length > 0) {
      if (bodyBytes + length > body.length) {
        body = Arrays.copyOf(body, Math.max(bodyBytes + length, 2 * bodyBytes));
      }
      data.getBytes(data.readerIndex(), body, bodyBytes, length);
      bodyBytes += length;
    }
    return length == data.readableBytes();
  }

  Reply.Answered answer() {
    byte[] whole = bodyBytes == body.length ? body : Arrays.copyOf(body, bodyBytes);
    return new Reply.Answered(status, headers, whole);
  }

  private static VarHandle reply() {
    try {
      return MethodHandles.lookup().findVarHandle(Exchange.class, "reply", Reply.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
