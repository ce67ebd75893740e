package io.pushplanet.cm.transport;

import io.pushplanet.cm.transport.gate.AcceptGate;
import io.pushplanet.cm.transport.gate.Rate;
import io.pushplanet.cm.transport.socket.ListeningSocket;
import io.pushplanet.cm.transport.socket.Poller;
import io.pushplanet.cm.transport.socket.Wire;
import io.pushplanet.cm.transport.tls.HandshakeQueue;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One thread, one poller, and the connections that it accepted. Its code does not block, lock
/// (except briefly, where RATIONALE.md says so) or log per message; other threads hand it tasks
/// with [#execute]. Writes of a turn leave together at its end. An exception or Error in a
/// connection's code ends that connection and not the loop.
///
/// The task queue has no bound of its own: every producer has one (frames in flight per gateway,
/// claims in flight, unconfirmed uplinks), named in RATIONALE.md.
public final class EventLoop implements Loop {
  private static final Logger LOG = LoggerFactory.getLogger(EventLoop.class);

  /// A loop that has made no turn for this long has stood still.
  public static final Duration STANDSTILL = Duration.ofSeconds(3);

  /// Every idle connection is swept once within this time, so an overdue keep-alive is noticed this
  /// late at most.
  public static final Duration IDLE_SWEEP = Duration.ofSeconds(16);

  static final long SWEEP_NANOS = TimeUnit.SECONDS.toNanos(1);

  /// How much of a turn may go by with closing connections whose peers have left.
  static final long LEFT_SLICE_NANOS = TimeUnit.MICROSECONDS.toNanos(200);

  /// A poller's own: epoll's, and the one that wakes it up.
  private static final int POLLER_DESCRIPTORS = 2;

  private static final int SHARED_BUFFER_BYTES = 64 * 1024;

  final ByteBuffer readBuffer = ByteBuffer.allocateDirect(SHARED_BUFFER_BYTES);
  final ByteBuffer writeBuffer = ByteBuffer.allocateDirect(SHARED_BUFFER_BYTES);
  final ByteBuffer plainBuffer = ByteBuffer.allocate(SHARED_BUFFER_BYTES);
  final Output output = new Output(this);
  final TransportMetrics metrics;
  final TransportSettings settings;
  final AcceptGate gate;
  final HandshakeQueue handshakes;
  final Pressure pressure;
  final Heap heap;
  final Descriptors descriptors;
  final HeldSockets held;
  final Shedding shedding;

  private final AuthenticatedPeers devices;
  private final AuthenticatedPeers gateways = new AuthenticatedPeers(null);

  private final UnauthenticatedBudgets unauthenticatedBudgets;
  private final int number;
  private final Poller poller;
  private final Poller.Ready ready = this::ready;
  private final LongSupplier nanoTime;
  private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
  private final PriorityQueue<Later> later =
      new PriorityQueue<>(Comparator.comparingLong(Later::dueNanos));
  private final AtomicBoolean awake = new AtomicBoolean();
  private final ArrayDeque<Connection> dirty = new ArrayDeque<>();
  private final ArrayDeque<Connection> peersLeft = new ArrayDeque<>();
  private final ArrayList<Acceptor> acceptors = new ArrayList<>();
  private final AtomicInteger count = new AtomicInteger();
  private final ArrayList<Connection> connections = new ArrayList<>();
  private final Sweep sweep = new Sweep(this, connections);
  private final Thread thread;
  private volatile boolean stopping;
  private volatile Standstill standstill = (_, _, clock) -> clock.getAsLong();
  private boolean begun;
  private boolean stoodStill;
  private long nowNanos;
  private long lookedNanos;
  private long nextSweepNanos;

  private record Later(long dueNanos, Runnable task) {}

  /// The objects that all loops of a transport share.
  ///
  /// @param partials the budget for partial frames of authenticated peers
  record Shared(
      TransportSettings settings,
      TransportMetrics metrics,
      UnauthenticatedBudgets unauthenticatedBudgets,
      ByteBudget partials,
      AcceptGate gate,
      HandshakeQueue handshakes,
      Pressure pressure,
      Heap heap,
      Descriptors descriptors,
      LongSupplier nanoTime) {}

  EventLoop(int number, Shared shared) throws IOException {
    this.number = number;
    this.settings = shared.settings();
    this.metrics = shared.metrics();
    this.unauthenticatedBudgets = shared.unauthenticatedBudgets();
    this.gate = shared.gate();
    this.handshakes = shared.handshakes();
    this.pressure = shared.pressure();
    this.heap = shared.heap();
    this.shedding = new Shedding(heap, shared.partials());
    this.devices = new AuthenticatedPeers(shared.partials());
    this.descriptors = shared.descriptors();
    this.held = new HeldSockets(gate, descriptors, settings.loops());
    this.nanoTime = shared.nanoTime();
    this.poller = settings.sockets().open();
    descriptors.opened(POLLER_DESCRIPTORS);
    this.thread = Thread.ofPlatform().name("cm-loop-" + number).unstarted(this::run);
    this.nowNanos = nanoTime.getAsLong();
    this.nextSweepNanos = nowNanos + SWEEP_NANOS;
  }

  @Override
  public void execute(Runnable task) {
    tasks.add(task);
    if (!isCurrentThread() && awake.compareAndSet(false, true)) {
      poller.wakeup();
    }
  }

  @Override
  public void executeAfter(Duration wait, Runnable task) {
    // Never in this turn, because nowNanos does not advance within a turn.
    later.add(new Later(nowNanos + Math.max(1, wait.toNanos()), task));
  }

  @Override
  public long nowNanos() {
    return nowNanos;
  }

  /// The time now; [#nowNanos] does not advance during a turn.
  long clock() {
    return nanoTime.getAsLong();
  }

  public boolean isCurrentThread() {
    return Thread.currentThread().equals(thread);
  }

  /// The budget for the bytes of this listener's unauthenticated peers.
  ByteBudget unauthenticatedBudget(Listener listener) {
    return unauthenticatedBudgets.of(listener);
  }

  /// Counts the bytes of this listener's authenticated peers.
  KeptBytes authenticated(Listener listener) {
    return listener.trusted() ? gateways : devices;
  }

  int connections() {
    return count.get();
  }

  /// Listens on an address. Called before the loop starts.
  ///
  /// @return the port
  int listen(Listener listener, InetSocketAddress address, int backlog, Rate rate)
      throws IOException {
    ListeningSocket socket = poller.listen(address, backlog, settings.userTimeout());
    var acceptor = new Acceptor(this, socket, listener, rate);
    acceptors.add(acceptor);
    descriptors.opened(1);
    socket.open(acceptor);
    return socket.port();
  }

  /// Makes an accepted socket a connection of this loop.
  ///
  /// @return false if the kernel watches no more sockets for this process; the socket was closed
  boolean adopt(ListeningSocket.Arrival arrival, Listener listener) {
    Wire wire = arrival.wire();
    var connection = new Connection(this, wire, arrival.source(), listener);
    add(connection);
    connection.watch();
    try {
      wire.join(connection);
    } catch (IOException full) {
      LOG.debug("event=join_failed loop={} reason=\"{}\"", number, full.toString());
      metrics.acceptFailures.increment();
      connection.close(CloseCause.ERROR);
      return false;
    } catch (RuntimeException | Error bug) {
      failed(connection, bug);
      return true;
    }
    guarded(connection, connection::opened);
    return true;
  }

  /// Adds the connection to this loop, until it has [#left].
  void add(Connection connection) {
    connection.place = connections.size();
    connections.add(connection);
    count.incrementAndGet();
    descriptors.opened(1);
  }

  void onStandstill(Standstill after) {
    standstill = after;
  }

  void start() {
    thread.start();
  }

  /// Stops accepting; existing connections stay.
  void stopListening() {
    execute(this::closeListeners);
  }

  private void closeListeners() {
    acceptors.forEach(Acceptor::close);
    descriptors.closed(acceptors.size());
    acceptors.clear();
  }

  /// Called instead of [#start]: closes the listeners and the poller.
  void abandon() {
    closeListeners();
    closePoller();
  }

  private void closePoller() {
    try {
      poller.close();
    } catch (IOException ignored) {
      LOG.debug("event=poller_close_failed loop={}", number);
    }
  }

  void stop() {
    stopping = true;
    poller.wakeup();
  }

  void join(long millis) throws InterruptedException {
    thread.join(millis);
  }

  void markDirty(Connection connection) {
    dirty.add(connection);
  }

  void watch(Connection connection) {
    sweep.watch(connection);
  }

  /// Closes the connection in this turn, or in one of the next.
  void peerLeft(Connection connection) {
    peersLeft.add(connection);
  }

  void left(Connection connection) {
    // The last connection moves into the free place.
    Connection last = connections.removeLast();
    if (last != connection) {
      connections.set(connection.place, last);
      last.place = connection.place;
    }
    count.decrementAndGet();
    descriptors.closed(1);
  }

  private void run() {
    while (!stopping) {
      try {
        turn();
      } catch (IOException | RuntimeException | Error unexpected) {
        // The turn did not reach its own reset, and as long as the flag is set no thread wakes the
        // loop.
        awake.set(false);
        report(unexpected);
      }
    }
    lastTurn();
    for (Connection connection : List.copyOf(connections)) {
      guarded(connection, () -> connection.close(CloseCause.SHUTDOWN));
    }
    closeListeners();
    held.closeAll();
    runTasks();
    closePoller();
  }

  /// Must not throw: the loop has other connections. Logging allocates, so it fails, too, when
  /// memory has run out.
  private void report(Throwable unexpected) {
    try {
      metrics.loopErrors.increment();
      LOG.error("event=loop_error loop={}", number, unexpected);
    } catch (RuntimeException | Error _) {
      // Nothing is left to tell it to.
    }
  }

  private void turn() throws IOException {
    long wait = nextWakeNanos() - nanoTime.getAsLong();
    begun = false;
    boolean idle = tasks.isEmpty() && dirty.isEmpty() && peersLeft.isEmpty();
    poller.poll(idle ? wait : 0, ready);
    // Not before the poll: java.nio's selector ignores a wakeup until this call is over.
    awake.set(false);
    begin();
    runTasks();
    wakeAcceptors();
    held.closeDue(nowNanos);
    sweepWhenDue();
    closePeersLeft();
    flushDirty();
  }

  /// Where thousands of peers leave at once, closing them takes a tenth of a second: others are
  /// served in between.
  private void closePeersLeft() {
    if (peersLeft.isEmpty()) {
      return;
    }
    long beganNanos = nanoTime.getAsLong();
    while (!peersLeft.isEmpty() && lookedNanos - beganNanos < LEFT_SLICE_NANOS) {
      Connection connection = peersLeft.remove();
      guarded(connection, connection::closeAfterPeer);
      look();
    }
  }

  /// Runs the tasks from before the [#stop], asks the handlers for their last packets, and offers
  /// all bytes to the kernel.
  private void lastTurn() {
    runTasks();
    for (Connection connection : List.copyOf(connections)) {
      guarded(connection, connection::stopping);
    }
    flushDirty();
  }

  private void ready(Object owner, boolean readable, boolean writable) {
    begin();
    switch (owner) {
      case Connection connection -> guarded(connection, () -> connection.ready(readable, writable));
      case Acceptor acceptor -> acceptor.accept();
      default -> throw new AssertionError("not of this loop: " + owner);
    }
    look();
  }

  /// Runs once in each turn, when the poller's wait is over.
  private void begin() {
    if (!begun) {
      begun = true;
      // Read once: the loop could stand still unnoticed between two readings.
      long now = nanoTime.getAsLong();
      long gap = now - nowNanos;
      nowNanos = gap > STANDSTILL.toNanos() ? standstillOver(gap) : now;
      lookedNanos = nowNanos;
      stoodStill = false;
    }
  }

  /// Runs after each step of a turn. A step that took seconds means that the loop stood still,
  /// however much work the turn has. Bytes that were about to be sent wait for the next turn, which
  /// begins with [Standstill#over], because another node may own the devices by now.
  private void look() {
    long now = nanoTime.getAsLong();
    stoodStill |= now - lookedNanos > STANDSTILL.toNanos();
    lookedNanos = now;
  }

  /// Checked right before bytes leave, because the loop may have stood still since the last step.
  boolean isAwake() {
    look();
    return !stoodStill;
  }

  /// A turn begins at least once a second. After a longer gap, packets of peers that seem silent
  /// may lie unread, so their silence is judged only after they have been read.
  ///
  /// @return the time as of which the loop goes on: the handler of the standstill may take longer
  ///     than [#STANDSTILL] without causing another one
  private long standstillOver(long gap) {
    metrics.loopLag.record(gap, TimeUnit.NANOSECONDS);
    sweep.abandon();
    long since = standstill.over(this, Duration.ofNanos(gap), nanoTime);
    nextSweepNanos = since + SWEEP_NANOS;
    return since;
  }

  private long nextWakeNanos() {
    long sweepNanos = sweep.isUnderWay() ? sweep.nextNanos() : nextSweepNanos;
    long next = Math.min(sweepNanos - nowNanos, held.nextNanos(nowNanos) - nowNanos);
    for (Acceptor acceptor : acceptors) {
      next = Math.min(next, acceptor.nextNanos(nowNanos) - nowNanos);
    }
    Later first = later.peek();
    if (first != null) {
      next = Math.min(next, first.dueNanos() - nowNanos);
    }
    return nowNanos + next;
  }

  private void wakeAcceptors() {
    for (Acceptor acceptor : acceptors) {
      acceptor.wakeWhenDue(nowNanos);
    }
  }

  private void runTasks() {
    // Only the tasks that are queued now, because tasks may add tasks.
    for (int left = tasks.size(); left > 0; left--) {
      Runnable task = tasks.poll();
      if (task == null) {
        break;
      }
      run(task);
    }
    for (Later first = later.peek();
        first != null && first.dueNanos() - nowNanos <= 0;
        first = later.peek()) {
      later.remove();
      run(first.task());
    }
  }

  private void run(Runnable task) {
    try {
      task.run();
    } catch (RuntimeException | Error unexpected) {
      metrics.loopErrors.increment();
      LOG.error("event=loop_task_error loop={}", number, unexpected);
    }
    look();
  }

  private void sweepWhenDue() {
    if (!sweep.isUnderWay()) {
      long late = nowNanos - nextSweepNanos;
      if (late < 0) {
        return;
      }
      metrics.loopLag.record(late, TimeUnit.NANOSECONDS);
      nextSweepNanos = nowNanos + SWEEP_NANOS;
      sweep.begin(nowNanos);
    }
    sweep.slice();
    if (!sweep.isUnderWay()) {
      metrics.sweep.record(sweep.tookNanos(), TimeUnit.NANOSECONDS);
      pressure.settle(nowNanos);
    }
  }

  /// @return whether the connection must be swept again in a second
  boolean sweep(Connection connection) {
    try {
      return connection.sweep(nowNanos);
    } catch (RuntimeException | Error bug) {
      failed(connection, bug);
      return false;
    }
  }

  private void flushDirty() {
    // A flush may write again (a window got room), so flush until no connection is dirty.
    look();
    while (!dirty.isEmpty() && !stoodStill) {
      Connection connection = dirty.remove();
      guarded(connection, connection::flush);
      look();
    }
  }

  /// One connection's part of a turn.
  interface Step {
    void run() throws IOException;
  }

  /// A fault in the step closes its connection.
  void guarded(Connection connection, Step step) {
    try {
      step.run();
    } catch (Wire.PathDead gone) {
      connection.pathDied();
    } catch (IOException gone) {
      connection.peerLeft();
    } catch (RuntimeException | Error bug) {
      failed(connection, bug);
    }
  }

  private void failed(Connection connection, Throwable bug) {
    metrics.loopErrors.increment();
    try {
      LOG.error("event=connection_error loop={}", number, bug);
    } finally {
      connection.close(CloseCause.ERROR);
    }
  }
}
