package io.pushplanet.gateway.http2;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.ConnectFailure;
import io.pushplanet.gateway.connection.PriorityBulkhead;
import io.pushplanet.gateway.connection.Reply.NoAnswer;
import io.pushplanet.gateway.connection.Reply.NotSent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.commons.pool2.KeyedObjectPool;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The connections that one credential uses now, and the requests that wait for room on one of
/// them. A connection is borrowed from the pool while it has requests, and returned soon after its
/// last one.
///
/// Thread-safe. Nothing here blocks for long: connecting has a thread of its own.
final class CredentialConnections {
  private static final Logger LOG = LoggerFactory.getLogger(CredentialConnections.class);

  /// The pause after a failed connect. Requests that arrive meanwhile fail at once, instead of
  /// trying to connect one after the other.
  private static final Duration AFTER_A_FAILURE = Duration.ofSeconds(1);

  /// The pause after the second connection in a row that ended before it had answered anything. It
  /// doubles with each further one up to [#AFTER_A_FAILURE]. The first one is replaced at once,
  /// because a single such end is normal.
  private static final Duration AFTER_AN_UNPROVEN = Duration.ofMillis(250);

  /// Another connection is opened when four fifths of the streams have been in use for so long.
  private static final Duration CROWDED = Duration.ofSeconds(1);

  private static final Duration BACK_TO_POOL_AFTER = Duration.ofSeconds(1);

  /// How often a request is written at most. Of all writes but the last the peer said that it did
  /// not process them: by a GOAWAY, after which it has processed other requests, or by a refusal,
  /// after which it may refuse the next request as well.
  private static final int MAX_WRITES = 20;

  /// How many connections may wait for the peer's first stream at a time before other connections
  /// are tried.
  private static final int MAX_CLOSED_TO_US = 2;

  private final ConnectionTarget target;
  private final ConnectionSettings settings;
  private final KeyedObjectPool<ConnectionTarget, Http2Connection> pool;
  private final PriorityBulkhead bulkhead;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile List<Http2Connection> connections = List.of();
  private volatile int waiting;

  /// How many of the waiting requests have priority `high`.
  private volatile int highWaiting;

  @GuardedBy("lock")
  private final Deque<Exchange> high = new ArrayDeque<>();

  @GuardedBy("lock")
  private final Deque<Exchange> normal = new ArrayDeque<>();

  @GuardedBy("lock")
  private boolean opening;

  @GuardedBy("lock")
  private boolean closed;

  @GuardedBy("lock")
  private long noConnectBeforeNanos = System.nanoTime();

  /// How many connections in a row ended before they had answered anything.
  @GuardedBy("lock")
  private int unprovenInARow;

  @GuardedBy("lock")
  private String lastFailure = ConnectFailure.UNKNOWN;

  @GuardedBy("lock")
  private long notCrowdedNanos = System.nanoTime();

  CredentialConnections(
      ConnectionTarget target,
      ConnectionSettings settings,
      KeyedObjectPool<ConnectionTarget, Http2Connection> pool) {
    this.target = target;
    this.settings = settings;
    this.pool = pool;
    this.bulkhead = new PriorityBulkhead(settings.perCredential() * settings.streams());
  }

  PriorityBulkhead bulkhead() {
    return bulkhead;
  }

  /// Sends the request or queues it. It ends within the time for a free stream plus the time for an
  /// answer; both begin anew each time that it has to be written again.
  void submit(Exchange exchange) {
    exchange.waitsUntilNanos = System.nanoTime() + settings.connectTimeout().toNanos();
    if (isFirst(exchange.request.priority()) && place(exchange)) {
      return;
    }
    lock.lock();
    try {
      queue(exchange).addLast(exchange);
      serve();
    } finally {
      lock.unlock();
    }
  }

  /// Whether no request is before it. A `high` request overtakes normal ones, but no other `high`
  /// one: under an endless load, a request that once had to wait would wait until the load ends.
  private boolean isFirst(Priority priority) {
    return switch (priority) {
      case HIGH -> highWaiting == 0;
      case NORMAL -> waiting == 0;
    };
  }

  /// Ends a request whose sender no longer waits.
  void abandon(Exchange exchange) {
    exchange.end(new NoAnswer("interrupted"));
    Http2Connection connection = exchange.connection;
    if (connection != null) {
      connection.cancel(exchange);
    }
  }

  /// Takes back a request that a connection could not keep and the peer has not processed. If it
  /// was written, its time for a free stream begins anew.
  void again(Exchange exchange, String why, boolean wasWritten) {
    long now = System.nanoTime();
    if (wasWritten) {
      exchange.written++;
      exchange.waitsUntilNanos = now + settings.connectTimeout().toNanos();
    }
    if (exchange.written >= MAX_WRITES
        || exchange.refusals >= Exchange.MAX_REFUSALS
        || now - exchange.waitsUntilNanos >= 0) {
      exchange.end(new NotSent(why));
      return;
    }
    lock.lock();
    try {
      queue(exchange).addFirst(exchange);
      serve();
    } finally {
      lock.unlock();
    }
  }

  void madeRoom() {
    if (waiting > 0) {
      lock.lock();
      try {
        serve();
      } finally {
        lock.unlock();
      }
    }
  }

  /// Takes the first connection with room, so that later ones become idle and may close. When all
  /// are four fifths full, they are filled one after the other. A refused request goes to another
  /// connection if it can.
  private boolean place(Exchange exchange) {
    List<Http2Connection> all = connections;
    for (Http2Connection connection : all) {
      if (connection != exchange.refusedBy
          && !connection.isCrowded()
          && connection.take(exchange)) {
        return true;
      }
    }
    for (Http2Connection connection : all) {
      if (connection != exchange.refusedBy && connection.take(exchange)) {
        return true;
      }
    }
    Http2Connection refuser = exchange.refusedBy;
    return refuser != null && all.contains(refuser) && refuser.take(exchange);
  }

  @GuardedBy("lock")
  private Deque<Exchange> queue(Exchange exchange) {
    return switch (exchange.request.priority()) {
      case HIGH -> high;
      case NORMAL -> normal;
    };
  }

  @GuardedBy("lock")
  private void serve() {
    // Before the search for room, so that a connection that gets room afterwards sees the waiting
    // requests.
    tellWaiting();
    serve(high);
    if (high.isEmpty()) {
      serve(normal);
    }
    tellWaiting();
    if (closed) {
      refuseWaiting("closed");
    } else if (waiting > 0) {
      openIfUseful();
    }
  }

  @GuardedBy("lock")
  private void tellWaiting() {
    highWaiting = high.size();
    waiting = high.size() + normal.size();
  }

  /// Ends all waiting and all later requests as not sent.
  void close() {
    lock.lock();
    try {
      closed = true;
      serve();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void serve(Deque<Exchange> queue) {
    Exchange next = queue.peekFirst();
    while (next != null && (next.hasEnded() || place(next))) {
      queue.removeFirst();
      next = queue.peekFirst();
    }
  }

  /// Opens another connection, unless one is opening already, or fewer requests wait than the first
  /// answers of the present connections will let in: on each as many as on the roomiest one that
  /// has proved itself, because a peer may allow fewer streams than are set. A connection on which
  /// the peer allows no stream yet promises no room.
  @GuardedBy("lock")
  private void openIfUseful() {
    List<Http2Connection> quiet = park(Http2Connection::isQuiet);
    int roomiest = 0;
    int tried = 0;
    int closedToUs = 0;
    for (Http2Connection connection : connections) {
      if (connection.isProven()) {
        roomiest = Math.max(roomiest, connection.streamsNow());
      } else if (connection.underWay() > 0) {
        tried++;
      } else {
        closedToUs++;
      }
    }
    int expected = tried * ((roomiest > 0 ? roomiest : settings.streams()) - 1);
    boolean useful =
        !opening
            && connections.size() < settings.perCredential()
            && waiting > expected
            && closedToUs < MAX_CLOSED_TO_US;
    if (!useful) {
      toPool(quiet);
      return;
    }
    if (System.nanoTime() - noConnectBeforeNanos < 0) {
      toPool(quiet);
      if (connections.isEmpty()) {
        refuseWaiting(lastFailure);
      }
      return;
    }
    open(quiet);
  }

  @GuardedBy("lock")
  private void open(List<Http2Connection> toPoolBefore) {
    opening = true;
    Thread.ofVirtual()
        .name("connect")
        .start(() -> {
          Http2Connection opened = null;
          String failure = ConnectFailure.UNKNOWN;
          try {
            giveBack(toPoolBefore);
            opened = pool.borrowObject(target);
          } catch (NoSuchElementException e) {
            failure = ConnectFailure.TOO_MANY;
            LOG.warn(
                "event=too_many_connections endpoint={} in_use={} advice=\"raise max-connections or start another worker\"",
                target.endpoint(),
                pool.getNumActive());
          } catch (Exception e) {
            failure = ConnectFailure.word(e);
            LOG.warn(
                "event=connect_failed endpoint={} why={} reason=\"{}\"",
                target.endpoint(),
                failure,
                e.getMessage());
          } finally {
            opened(opened, failure);
          }
        });
  }

  /// @param failure the reason when there is no connection
  private void opened(@Nullable Http2Connection connection, String failure) {
    lock.lock();
    try {
      opening = false;
      if (connection == null) {
        noConnectBeforeNanos = System.nanoTime() + AFTER_A_FAILURE.toNanos();
        lastFailure = failure;
        if (connections.isEmpty()) {
          refuseWaiting(lastFailure);
        }
        return;
      }
      List<Http2Connection> more = new ArrayList<>(connections);
      more.add(connection);
      connections = List.copyOf(more);
      connection.lendTo(this);
      if (connection.isRetired()) {
        retired(connection);
      }
      serve();
    } finally {
      lock.unlock();
    }
  }

  @GuardedBy("lock")
  private void refuseWaiting(String why) {
    for (Deque<Exchange> queue : List.of(high, normal)) {
      for (Exchange one = queue.pollFirst(); one != null; one = queue.pollFirst()) {
        one.end(new NotSent(why));
      }
    }
    tellWaiting();
  }

  /// Lets go of a connection that takes no more requests. Those under way on it may end there,
  /// while its replacement opens.
  void retired(Http2Connection connection) {
    lock.lock();
    try {
      if (!connections.contains(connection)) {
        return;
      }
      connections = connections.stream().filter(it -> it != connection).toList();
      countEnd(connection);
      Thread.ofVirtual()
          .start(() -> {
            try {
              pool.invalidateObject(target, connection);
            } catch (Exception e) {
              LOG.warn("event=connection_not_returned reason=\"{}\"", e.toString());
            }
          });
      if (connections.isEmpty()
          && !opening
          && connection.underWay() > 0
          && System.nanoTime() - noConnectBeforeNanos >= 0) {
        open(List.of());
      }
    } finally {
      lock.unlock();
    }
  }

  /// Counts ends without an answer: a peer that ends each connection would be called again and
  /// again, for as long as there are messages.
  @GuardedBy("lock")
  private void countEnd(Http2Connection ended) {
    unprovenInARow = ended.isProven() ? 0 : unprovenInARow + 1;
    if (unprovenInARow > 1) {
      long doubled = AFTER_AN_UNPROVEN.toNanos() << Math.min(unprovenInARow - 2, 10);
      noConnectBeforeNanos = System.nanoTime() + Math.min(doubled, AFTER_A_FAILURE.toNanos());
      lastFailure = ConnectFailure.ENDED;
    }
  }

  /// Called several times a second.
  void look() {
    lock.lock();
    try {
      if (connections.isEmpty() && waiting == 0) {
        return;
      }
      long now = System.nanoTime();
      endLate(high, now);
      endLate(normal, now);
      serve();
      if (waiting > 0) {
        leaveStarved();
      }
      openIfCrowded(now);
      toPool(park(connection -> connection.isIdle(BACK_TO_POOL_AFTER)));
    } finally {
      lock.unlock();
    }
  }

  private static void endLate(Deque<Exchange> queue, long now) {
    Iterator<Exchange> all = queue.iterator();
    while (all.hasNext()) {
      Exchange one = all.next();
      if (now - one.waitsUntilNanos >= 0) {
        all.remove();
        one.end(new NotSent("busy"));
      }
    }
  }

  /// Closes connections whose peer has let no request in for too long while none was under way, by
  /// a window or a limit of zero. That also holds for a connection that began so.
  private void leaveStarved() {
    for (Http2Connection connection : connections) {
      if (connection.isIdle(settings.deadAfter())) {
        connection.close("starved");
      }
    }
  }

  @GuardedBy("lock")
  private void openIfCrowded(long now) {
    boolean crowded =
        !connections.isEmpty()
            && connections.stream().allMatch(it -> it.isProven() && it.isCrowded());
    if (!crowded) {
      notCrowdedNanos = now;
      return;
    }
    if (now - notCrowdedNanos >= CROWDED.toNanos()
        && !opening
        && connections.size() < settings.perCredential()
        && now - noConnectBeforeNanos >= 0) {
      notCrowdedNanos = now;
      open(List.of());
    }
  }

  private interface Choice {
    boolean test(Http2Connection connection);
  }

  @GuardedBy("lock")
  private List<Http2Connection> park(Choice choice) {
    List<Http2Connection> parked = new ArrayList<>();
    for (Http2Connection connection : connections) {
      if (choice.test(connection) && connection.park()) {
        parked.add(connection);
        // From now on it is the pool that may end it.
        unprovenInARow = connection.isProven() ? 0 : unprovenInARow;
      }
    }
    if (!parked.isEmpty()) {
      connections = connections.stream().filter(it -> !parked.contains(it)).toList();
    }
    return parked;
  }

  private void toPool(List<Http2Connection> parked) {
    if (!parked.isEmpty()) {
      Thread.ofVirtual().start(() -> giveBack(parked));
    }
  }

  private void giveBack(List<Http2Connection> parked) {
    for (Http2Connection connection : parked) {
      try {
        pool.returnObject(target, connection);
      } catch (Exception e) {
        LOG.warn("event=connection_not_returned reason=\"{}\"", e.toString());
      }
    }
  }

  int waiting() {
    return bulkhead.waiting() + waiting;
  }

  int underWay() {
    return connections.stream().mapToInt(Http2Connection::underWay).sum();
  }

  int free() {
    return connections.stream().mapToInt(Http2Connection::free).sum();
  }
}
