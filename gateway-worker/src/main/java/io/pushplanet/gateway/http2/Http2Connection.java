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

/// One HTTP/2 connection as those see it who want to send: how much room it has, and where to hand a request over. What is
/// handed over fits: a stream and the bytes of the connection's window are taken before, so that nothing queues inside but for
/// the socket.
///
/// Thread-safe. [Http2Streams] is the same connection on its event loop.
final class Http2Connection {
  private static final Duration PING_DEADLINE = Duration.ofSeconds(2);
  private static final long FIRST_WINDOW = 65_535;
  private static final long LARGEST_WINDOW = Integer.MAX_VALUE;

  /// Nobody may take a stream: the pool has it.
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

  /// Out of the pool.
  void lendTo(CredentialConnections borrower) {
    user = borrower;
    unused = true;
    underWay.set(0);
  }

  /// Back into the pool, if nothing is under way.
  boolean park() {
    if (!underWay.compareAndSet(0, PARKED)) {
      return false;
    }
    user = null;
    return true;
  }

  /// Whether it has to be asked before it is used: nothing is under way, and nothing was heard for long.
  boolean isQuiet() {
    return underWay.get() == 0 && !unused && silence() >= settings.pingAfter().toNanos();
  }

  /// Whether nothing is under way, and nothing was heard for so long.
  boolean isIdle(Duration since) {
    return underWay.get() == 0 && silence() >= since.toNanos();
  }

  /// Hands the request over, if there is room for it. The first request goes alone until it has an answer: APNs allows one
  /// stream until it has seen a good request
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

  /// A tenth is kept for what is high.
  private int room(Priority priority) {
    int streamsNow = streamsNow();
    return switch (priority) {
      case HIGH -> streamsNow;
      case NORMAL -> streamsNow - streamsNow / 10;
    };
  }

  private int streamsNow() {
    int most = Math.min(settings.streams(), allowed);
    return proven ? most : Math.min(1, most);
  }

  boolean isProven() {
    return proven;
  }

  /// Over four fifths of its streams are in use.
  boolean isCrowded() {
    return underWay.get() * 5 > streamsNow() * 4;
  }

  int underWay() {
    return Math.max(0, underWay.get());
  }

  int free() {
    return isUsable() ? Math.max(0, streamsNow() - underWay()) : 0;
  }

  /// The event loop is woken by the first of those that it has not yet fetched.
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

  /// What was handed over since the last call, the latest first.
  @Nullable Exchange fetchSubmitted() {
    return submitted.getAndSet(null);
  }

  /// A request has left the connection.
  ///
  /// @param unsent bytes of its body that were not written
  void left(int unsent) {
    if (unsent > 0) {
      window.getAndAdd(unsent);
    }
    underWay.getAndDecrement();
  }

  /// Tells the waiting that there may be room.
  void madeRoom() {
    CredentialConnections borrower = user;
    if (borrower != null) {
      borrower.madeRoom();
    }
  }

  /// The request goes to another connection, or ends.
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

  /// @return whether the window is still one
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

  /// In nanoseconds.
  long silence() {
    return System.nanoTime() - lastHeardNanos;
  }

  long lastHeardNanos() {
    return lastHeardNanos;
  }

  /// Takes no new requests and is replaced; those under way may end.
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

  /// Ends at once; what is under way gets no answer.
  void close(String why) {
    onLoop(() -> streams.close(why));
  }

  /// Nobody waits for it any more.
  void cancel(Exchange exchange) {
    onLoop(() -> streams.cancel(exchange, "interrupted"));
  }

  private void onLoop(Runnable task) {
    try {
      channel.eventLoop().execute(task);
    } catch (RejectedExecutionException closed) {
      // The loop ended everything before it ended itself.
    }
  }

  /// Whether the peer still answers; waits for it.
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
