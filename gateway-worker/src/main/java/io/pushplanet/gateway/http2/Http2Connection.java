package io.pushplanet.gateway.http2;

import io.netty.channel.Channel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.Reply.NotSent;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/// One HTTP/2 connection as its senders see it: how much room it has, and where they hand a request
/// over. A request is handed over only when it fits: a stream and its bytes of the connection's
/// window are taken before, so that requests queue inside only for the socket.
///
/// Thread-safe. [Http2Streams] is the same connection on its event loop.
final class Http2Connection {
  private static final Duration PING_DEADLINE = Duration.ofSeconds(2);
  private static final long FIRST_WINDOW = 65_535;
  private static final long LARGEST_WINDOW = Integer.MAX_VALUE;

  /// While the pool has the connection, no request may take a stream.
  private static final int PARKED = Integer.MIN_VALUE / 2;

  private final Channel channel;
  private final ConnectionSettings settings;
  private final Http2Streams streams;
  private final AtomicInteger underWay = new AtomicInteger(PARKED);
  private final AtomicLong window = new AtomicLong(FIRST_WINDOW);
  private final AtomicReference<@Nullable Exchange> submitted = new AtomicReference<>();
  private volatile int allowed = Integer.MAX_VALUE;
  private volatile boolean proven;
  private volatile boolean retired;
  private volatile boolean unused = true;
  private volatile long lastHeardNanos = System.nanoTime();
  private volatile @Nullable CredentialConnections user;

  Http2Connection(Channel channel, ConnectionSettings settings, Http2Streams streams) {
    this.channel = channel;
    this.settings = settings;
    this.streams = streams;
  }

  /// The pool lends it to a credential's connections.
  void lendTo(CredentialConnections borrower) {
    user = borrower;
    unused = true;
    underWay.set(0);
  }

  /// Prepares its return to the pool, unless requests are under way.
  boolean park() {
    if (!underWay.compareAndSet(0, PARKED)) {
      return false;
    }
    user = null;
    return true;
  }

  /// Whether it must answer a PING before it is used: no request is under way, and the peer has
  /// been silent for long.
  boolean isQuiet() {
    return underWay.get() == 0 && !unused && silence() >= settings.pingAfter().toNanos();
  }

  /// Whether no request is under way and the peer has been silent for so long.
  boolean isIdle(Duration since) {
    return underWay.get() == 0 && silence() >= since.toNanos();
  }

  /// Hands the request over if there is room for it. The first request goes alone until it has an
  /// answer: APNs allows one stream until it has seen a good request
  /// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
  boolean take(Exchange exchange) {
    if (!takesStream(exchange.request.priority())) {
      return false;
    }
    int bytes = exchange.request.body().length;
    long left = window.get();
    while (left >= bytes) {
      if (window.compareAndSet(left, left - bytes)) {
        exchange.connection = this;
        submit(exchange);
        return true;
      }
      left = window.get();
    }
    underWay.getAndDecrement();
    return false;
  }

  private boolean takesStream(Priority priority) {
    int now = underWay.get();
    while (now >= 0 && now < room(priority) && !retired) {
      if (now == 0 && !unused && silence() >= settings.pingAfter().toNanos()) {
        return false;
      }
      if (underWay.compareAndSet(now, now + 1)) {
        if (now == 0) {
          unused = false;
        }
        return true;
      }
      now = underWay.get();
    }
    return false;
  }

  /// A tenth of the streams is kept for priority `high`.
  private int room(Priority priority) {
    int streamsNow = streamsNow();
    return switch (priority) {
      case HIGH -> streamsNow;
      case NORMAL -> streamsNow - streamsNow / 10;
    };
  }

  /// How many requests may be under way, as the settings and the peer allow; 1 at most before the
  /// first good answer.
  int streamsNow() {
    int most = Math.min(settings.streams(), allowed);
    return proven ? most : Math.min(1, most);
  }

  boolean isProven() {
    return proven;
  }

  /// Whether over four fifths of its streams are in use.
  boolean isCrowded() {
    return underWay.get() * 5 > streamsNow() * 4;
  }

  int underWay() {
    return Math.max(0, underWay.get());
  }

  int free() {
    return isUsable() ? Math.max(0, streamsNow() - underWay()) : 0;
  }

  /// Pushes the request onto a stack. Only the first request that the event loop has not yet
  /// fetched wakes the loop.
  private void submit(Exchange exchange) {
    Exchange before = submitted.get();
    exchange.submittedBefore = before;
    while (!submitted.compareAndSet(before, exchange)) {
      before = submitted.get();
      exchange.submittedBefore = before;
    }
    if (before == null) {
      wake();
    }
  }

  private void wake() {
    try {
      channel.eventLoop().execute(streams);
    } catch (RejectedExecutionException closed) {
      Exchange next = submitted.getAndSet(null);
      while (next != null) {
        next.end(new NotSent("closed"));
        next = next.submittedBefore;
      }
    }
  }

  /// The requests handed over since the last call, the latest first.
  @Nullable Exchange fetchSubmitted() {
    return submitted.getAndSet(null);
  }

  /// Called when a request has left the connection.
  ///
  /// @param unsent bytes of its body that were not written
  void left(int unsent) {
    if (unsent > 0) {
      window.getAndAdd(unsent);
    }
    underWay.getAndDecrement();
  }

  /// Tells the waiting requests that there may be room.
  void madeRoom() {
    CredentialConnections borrower = user;
    if (borrower != null) {
      borrower.madeRoom();
    }
  }

  /// Sends the request to another connection, or ends it.
  void giveBack(Exchange exchange, String why, boolean wasWritten) {
    exchange.startsOver();
    CredentialConnections borrower = user;
    if (borrower == null) {
      exchange.end(new NotSent(why));
      return;
    }
    borrower.again(exchange, why, wasWritten);
  }

  void allow(long mostStreams) {
    allowed = (int) Math.min(Integer.MAX_VALUE, mostStreams);
  }

  /// @return whether the window is still valid
  boolean widen(int bytes) {
    return window.addAndGet(bytes) <= LARGEST_WINDOW;
  }

  void heard(long nanos) {
    lastHeardNanos = nanos;
  }

  void prove() {
    if (!proven) {
      proven = true;
    }
  }

  /// How long the peer has been silent, in nanoseconds.
  long silence() {
    return System.nanoTime() - lastHeardNanos;
  }

  long lastHeardNanos() {
    return lastHeardNanos;
  }

  /// Takes no new requests and is replaced. Those under way may end.
  void retire() {
    if (retired) {
      return;
    }
    retired = true;
    CredentialConnections borrower = user;
    if (borrower != null) {
      borrower.retired(this);
    }
    onLoop(streams::closeOnceUnused);
  }

  boolean isRetired() {
    return retired;
  }

  boolean isUsable() {
    return !retired && channel.isActive();
  }

  /// Closes the connection at once. Requests under way get no answer.
  void close(String why) {
    onLoop(() -> streams.close(why));
  }

  /// Gives up a request whose sender no longer waits.
  void cancel(Exchange exchange) {
    onLoop(() -> streams.cancel(exchange, "interrupted"));
  }

  private void onLoop(Runnable task) {
    try {
      channel.eventLoop().execute(task);
    } catch (RejectedExecutionException closed) {
      // The loop has ended all requests before it ended itself.
    }
  }

  /// Sends a PING and waits for its answer.
  boolean answersPing() {
    CountDownLatch answered = new CountDownLatch(1);
    onLoop(() -> streams.ping(answered::countDown));
    try {
      return answered.await(PING_DEADLINE.toMillis(), TimeUnit.MILLISECONDS) && isUsable();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
