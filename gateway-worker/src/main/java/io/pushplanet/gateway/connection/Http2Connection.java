package io.pushplanet.gateway.connection;

import io.pushplanet.gateway.connection.Reply.NotSent;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hc.core5.http.HttpHost;
import org.apache.hc.core5.http.message.BasicHeader;
import org.apache.hc.core5.http.message.BasicHttpRequest;
import org.apache.hc.core5.http.nio.command.RequestExecutionCommand;
import org.apache.hc.core5.http.protocol.HttpCoreContext;
import org.apache.hc.core5.http2.nio.command.PingCommand;
import org.apache.hc.core5.http2.nio.support.BasicPingHandler;
import org.apache.hc.core5.io.CloseMode;
import org.apache.hc.core5.reactor.Command;
import org.apache.hc.core5.reactor.IOSession;
import org.jspecify.annotations.Nullable;

/// One HTTP/2 connection. HttpComponents writes and reads it; what it leaves open is closed here: an answer has a deadline, a
/// GOAWAY ends exactly the requests that the peer did not look at, and a connection that fell silent is found by a PING.
///
/// Thread-safe. The number of requests at a time is kept by the pool.
final class Http2Connection {
  private static final Duration PING_DEADLINE = Duration.ofSeconds(2);

  private final IOSession session;
  private final HttpHost host;
  private final Set<Exchange> open = ConcurrentHashMap.newKeySet();
  private final Semaphore first = new Semaphore(1);
  private volatile boolean retired;
  private volatile boolean proven;
  private volatile long lastHeardNanos = System.nanoTime();

  /// Confined to the event loop: set as a request is about to be encoded, taken when its headers have their stream.
  private @Nullable Exchange encoding;

  Http2Connection(IOSession session, HttpHost host) {
    this.session = session;
    this.host = host;
  }

  /// Sends and waits. The first request goes alone until it has an answer: APNs allows one stream until it has seen a good
  /// request (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
  Reply exchange(ProviderRequest request, Duration deadline) throws InterruptedException {
    if (proven) {
      return exchanged(request, deadline);
    }
    if (!first.tryAcquire(deadline.toNanos(), TimeUnit.NANOSECONDS)) {
      return new NotSent("busy");
    }
    if (proven) {
      first.release();
      return exchanged(request, deadline);
    }
    try {
      return exchanged(request, deadline);
    } finally {
      first.release();
    }
  }

  /// A missed deadline closes the connection: HTTP/2 over one TCP stream, so all of it is wedged.
  private Reply exchanged(ProviderRequest request, Duration deadline) throws InterruptedException {
    BasicHttpRequest head = new BasicHttpRequest("POST", host, request.path());
    for (ProviderRequest.Field field : request.headers()) {
      head.addHeader(new BasicHeader(field.name(), field.value(), field.secret()));
    }
    Exchange exchange = new Exchange(head, request.body(), this);
    open.add(exchange);
    try {
      if (retired) {
        return new NotSent("retired");
      }
      session.enqueue(
          new RequestExecutionCommand(exchange, HttpCoreContext.create()), Command.Priority.NORMAL);
      if (!session.isOpen()) {
        exchange.end("connection_closed");
      }
      return exchange.await(deadline);
    } catch (TimeoutException e) {
      exchange.end("timeout");
      close();
      try {
        return exchange.await(Duration.ZERO);
      } catch (TimeoutException impossible) {
        throw new IllegalStateException("an exchange has ended", impossible);
      }
    } finally {
      open.remove(exchange);
    }
  }

  /// Takes no new requests; those under way may end.
  void retire() {
    retired = true;
  }

  /// Ends at once; what is under way gets no answer.
  void close() {
    retired = true;
    session.close(CloseMode.IMMEDIATE);
    open.forEach(exchange -> exchange.end("connection_closed"));
  }

  /// Ends when nothing is under way.
  void closeOnceUnused() {
    if (retired && open.isEmpty()) {
      session.close(CloseMode.GRACEFUL);
    }
  }

  boolean isUsable() {
    return !retired && session.isOpen();
  }

  /// Whether the peer still answers, asked only after a silence.
  boolean answersAfter(Duration silence) {
    if (!isUsable()) {
      return false;
    }
    if (System.nanoTime() - lastHeardNanos < silence.toNanos()) {
      return true;
    }
    CountDownLatch asked = new CountDownLatch(1);
    AtomicBoolean alive = new AtomicBoolean();
    session.enqueue(
        new PingCommand(
            new BasicPingHandler(answer -> {
              alive.set(Boolean.TRUE.equals(answer));
              asked.countDown();
            })),
        Command.Priority.IMMEDIATE);
    try {
      if (asked.await(PING_DEADLINE.toMillis(), TimeUnit.MILLISECONDS) && alive.get()) {
        heard();
        return true;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  void heard() {
    proven = true;
    lastHeardNanos = System.nanoTime();
  }

  void nextHeadersAreOf(Exchange exchange) {
    encoding = exchange;
  }

  void headersWritten(int streamId) {
    Exchange exchange = encoding;
    if (exchange != null) {
      exchange.writtenOn(streamId);
      encoding = null;
    }
  }

  void peerGoesAway(int lastStream) {
    retired = true;
    open.forEach(exchange -> exchange.peerStoppedAt(lastStream));
  }
}
