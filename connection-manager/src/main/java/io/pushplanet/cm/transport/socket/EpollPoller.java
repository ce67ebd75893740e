package io.pushplanet.cm.transport.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The kernel's epoll (epoll(7), level-triggered). A socket is a descriptor and an index into an
/// array; the kernel reports the index. Descriptors are numbered per process, indexes per loop.
final class EpollPoller implements Poller {
  private static final int EPOLLIN = 0x1;
  private static final int EPOLLOUT = 0x4;
  private static final int EPOLLERR = 0x8;
  private static final int EPOLLHUP = 0x10;
  private static final int EPOLLET = 1 << 31;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_MOD = 3;

  private static final int AF_INET = 2;
  private static final int AF_INET6 = 10;
  private static final int SOCK_STREAM = 1;
  private static final int NONBLOCK_AND_CLOEXEC = 0x800 | 0x80000;
  private static final int SOL_SOCKET = 1;
  private static final int SO_REUSEADDR = 2;
  private static final int SO_KEEPALIVE = 9;
  private static final int SO_LINGER = 13;
  private static final int SO_REUSEPORT = 15;
  private static final int IPPROTO_TCP = 6;
  private static final int TCP_NODELAY = 1;
  private static final int TCP_KEEPIDLE = 4;
  private static final int TCP_KEEPINTVL = 5;
  private static final int TCP_KEEPCNT = 6;
  private static final int TCP_USER_TIMEOUT = 18;
  private static final int IPPROTO_IPV6 = 41;
  private static final int IPV6_V6ONLY = 26;
  private static final int SHUT_WR = 1;
  private static final short POLLRDHUP = 0x2000;

  private static final ValueLayout.OfShort PORT = JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);
  private static final int SOCKADDR_IN = 16;
  private static final int SOCKADDR_IN6 = 28;

  /// EINTR, EPROTO, ECONNABORTED: the client has gone, and is no longer in the accept queue.
  private static final Set<Integer> CLIENT_GONE = Set.of(4, 71, 103);

  /// ENETUNREACH, ETIMEDOUT, EHOSTUNREACH: the kernel has given up. It names what a router last
  /// told it, and otherwise the time.
  private static final Set<Integer> PATH_DEAD = Set.of(101, 110, 113);

  // ENFILE, EMFILE.
  private static final Set<Integer> NO_DESCRIPTOR = Set.of(23, 24);
  private static final int EAFNOSUPPORT = 97;
  private static final int ENOTCONN = 107;

  /// The property that java.nio uses.
  private static final boolean ONLY_IPV4 = Boolean.getBoolean("java.net.preferIPv4Stack");

  // On x86-64 struct epoll_event is packed.
  private static final boolean PACKED = "amd64".equals(System.getProperty("os.arch"));
  private static final int EVENT_BYTES = PACKED ? 12 : 16;
  private static final int EVENT_DATA = PACKED ? 4 : 8;
  private static final int MAX_EVENTS = 1024;
  private static final int EVENTFD = -1;

  private static final int TIMESPEC = 16;
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final long NANOS_PER_MILLI = 1_000_000;

  private final Syscalls syscalls;
  private final int epoll;
  private final int eventfd;
  private final MemorySegment events;
  private final MemorySegment event;
  private final MemorySegment address;
  private final MemorySegment value;
  private final MemorySegment timeout;
  private @Nullable Descriptor[] places = new Descriptor[64];
  private int[] freed = new int[64];
  private int freedCount;
  private int taken;
  private final Object eventfdLock = new Object();
  private boolean closed;
  private boolean onlyMillis;

  EpollPoller() throws IOException {
    this(new Syscalls());
  }

  EpollPoller(Syscalls syscalls) throws IOException {
    this.syscalls = syscalls;
    var arena = Arena.ofAuto();
    events = arena.allocate((long) MAX_EVENTS * EVENT_BYTES, 8);
    event = arena.allocate(EVENT_BYTES, 8);
    address = arena.allocate(SOCKADDR_IN6, 8);
    value = arena.allocate(8, 8);
    timeout = arena.allocate(TIMESPEC, 8);
    epoll = orThrow("epoll_create1", syscalls.epollCreate(0x80000));
    eventfd = syscalls.eventfd(NONBLOCK_AND_CLOEXEC);
    try {
      orThrow("eventfd", eventfd);
      // Edge-triggered, so it need not be read.
      control(EPOLL_CTL_ADD, eventfd, EPOLLIN | EPOLLET, EVENTFD);
    } catch (IOException | RuntimeException | Error failed) {
      close();
      throw failed;
    }
  }

  static boolean isSupported() {
    return "Linux".equals(System.getProperty("os.name"))
        && Set.of("amd64", "aarch64").contains(System.getProperty("os.arch"));
  }

  @Override
  public void poll(long timeoutNanos, Ready ready) throws IOException {
    int count = await(Math.max(0, timeoutNanos));
    if (count < 0) {
      if (count == -Syscalls.EINTR) {
        return;
      }
      throw Syscalls.failed("epoll_wait", count);
    }
    for (int index = 0; index < count; index++) {
      long at = (long) index * EVENT_BYTES;
      int what = events.get(JAVA_INT_UNALIGNED, at);
      int place = (int) events.get(JAVA_LONG_UNALIGNED, at + EVENT_DATA);
      Descriptor descriptor = place == EVENTFD ? null : places[place];
      // Null if the socket was closed in this round.
      if (descriptor != null) {
        descriptor.tell(what, ready);
      }
    }
  }

  private int await(long nanos) {
    if (nanos > 0 && !onlyMillis) {
      timeout.set(JAVA_LONG, 0, nanos / NANOS_PER_SECOND);
      timeout.set(JAVA_LONG, 8, nanos % NANOS_PER_SECOND);
      int count = syscalls.epollPwait2(epoll, events.address(), MAX_EVENTS, timeout.address());
      if (count >= 0 || count == -Syscalls.EINTR) {
        return count;
      }
      // ENOSYS, or EPERM in a container whose filter is older than the call
      // (https://github.com/buytenh/ivykis/pull/33). epoll_wait reports any other error, too.
      onlyMillis = true;
    }
    int millis = (int) Math.min(Math.ceilDiv(nanos, NANOS_PER_MILLI), Integer.MAX_VALUE);
    return syscalls.epollWait(epoll, events.address(), MAX_EVENTS, millis);
  }

  @Override
  public void wakeup() {
    // After the close, another thread may have been given the same descriptor.
    synchronized (eventfdLock) {
      if (!closed) {
        Syscalls.signal(eventfd);
      }
    }
  }

  @Override
  public ListeningSocket listen(InetSocketAddress where, int backlog, Duration unacknowledged)
      throws IOException {
    boolean everywhere = where.getAddress().isAnyLocalAddress();
    boolean v6 = everywhere ? !ONLY_IPV4 : where.getAddress() instanceof Inet6Address;
    int socket = syscalls.socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | NONBLOCK_AND_CLOEXEC);
    if (socket == -EAFNOSUPPORT && everywhere && v6) {
      v6 = false;
      socket = syscalls.socket(AF_INET, SOCK_STREAM | NONBLOCK_AND_CLOEXEC);
    }
    orThrow("socket", socket);
    try {
      option(socket, SOL_SOCKET, SO_REUSEADDR, 1);
      option(socket, SOL_SOCKET, SO_REUSEPORT, 1);
      // Accepted sockets inherit these options.
      option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
      option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
      option(socket, IPPROTO_TCP, TCP_KEEPIDLE, (int) KEEP_ALIVE_AFTER.toSeconds());
      option(socket, IPPROTO_TCP, TCP_KEEPINTVL, (int) KEEP_ALIVE_EVERY.toSeconds());
      option(socket, IPPROTO_TCP, TCP_KEEPCNT, KEEP_ALIVE_PROBES);
      option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, millis(unacknowledged));
      if (v6) {
        option(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0);
      }
      int bytes = putAddress(where, v6);
      orThrow("bind", syscalls.bind(socket, address.address(), bytes));
      orThrow("listen", syscalls.listen(socket, backlog));
      return new EpollListeningSocket(socket);
    } catch (IOException | RuntimeException | Error failed) {
      syscalls.close(socket);
      throw failed;
    }
  }

  @Override
  public void close() {
    synchronized (eventfdLock) {
      if (!closed) {
        closed = true;
        syscalls.close(eventfd);
        syscalls.close(epoll);
      }
    }
  }

  private static int orThrow(String call, int result) throws IOException {
    if (result < 0) {
      throw Syscalls.failed(call, result);
    }
    return result;
  }

  private static int noneOrThrow(String call, int result) throws IOException {
    boolean none = result == 0 || result == -Syscalls.EAGAIN || result == -Syscalls.EINTR;
    if (!none && PATH_DEAD.contains(-result)) {
      throw new Wire.PathDead(Syscalls.failed(call, result));
    }
    return none ? 0 : orThrow(call, result);
  }

  private static int millis(Duration time) {
    return (int) Math.min(time.toMillis(), Integer.MAX_VALUE);
  }

  /// The address of the buffer's first remaining byte. The buffer must stay reachable during the
  /// call.
  private static long addressOf(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException("a buffer on the heap has no address");
    }
    return MemorySegment.ofBuffer(buffer).address();
  }

  private void option(int socket, int level, int option, int number) throws IOException {
    value.set(JAVA_INT, 0, number);
    orThrow(
        "setsockopt", syscalls.setsockopt(socket, level, option, value.address(), Integer.BYTES));
  }

  private void control(int operation, int descriptor, int what, int place) throws IOException {
    event.set(JAVA_INT_UNALIGNED, 0, what);
    event.set(JAVA_LONG_UNALIGNED, EVENT_DATA, place);
    orThrow("epoll_ctl", syscalls.epollControl(epoll, operation, descriptor, event.address()));
  }

  /// @return the address's length in bytes
  private int putAddress(InetSocketAddress where, boolean v6) {
    address.fill((byte) 0);
    address.set(JAVA_SHORT, 0, (short) (v6 ? AF_INET6 : AF_INET));
    address.set(PORT, 2, (short) where.getPort());
    if (!where.getAddress().isAnyLocalAddress()) {
      MemorySegment.copy(
          MemorySegment.ofArray(where.getAddress().getAddress()),
          0,
          address,
          v6 ? 8 : 4,
          v6 ? 16 : 4);
      if (v6) {
        address.set(JAVA_INT, 24, ((Inet6Address) where.getAddress()).getScopeId());
      }
    }
    return v6 ? SOCKADDR_IN6 : SOCKADDR_IN;
  }

  private long roomForAddress() {
    value.set(JAVA_INT, 0, SOCKADDR_IN6);
    return value.address();
  }

  /// Reads `address`. The IPv4 peer of a dual-stack socket becomes an IPv4 address.
  private InetSocketAddress takeAddress() {
    boolean v6 = address.get(JAVA_SHORT, 0) == AF_INET6;
    byte[] bytes = address.asSlice(v6 ? 8 : 4, v6 ? 16 : 4).toArray(JAVA_BYTE);
    try {
      return new InetSocketAddress(
          InetAddress.getByAddress(bytes), Short.toUnsignedInt(address.get(PORT, 2)));
    } catch (UnknownHostException impossible) {
      throw new AssertionError("4 and 16 bytes are addresses", impossible);
    }
  }

  /// The common part of listening sockets and connected ones.
  private abstract class Descriptor {
    // -1 once closed, because the number may be reused.
    int socket;
    private int place;
    private int wanted;
    private @Nullable Object owner;

    Descriptor(int socket) {
      this.socket = socket;
    }

    final void own(Object by) throws IOException {
      int free = freedCount > 0 ? freed[freedCount - 1] : taken;
      if (free == places.length) {
        // Grown here, because leaving must not allocate.
        freed = Arrays.copyOf(freed, 2 * free);
        places = Arrays.copyOf(places, 2 * free);
      }
      control(EPOLL_CTL_ADD, socket, EPOLLIN, free);
      if (freedCount > 0) {
        freedCount--;
      } else {
        taken++;
      }
      places[free] = this;
      place = free;
      wanted = EPOLLIN;
      owner = by;
    }

    /// The kernel reports broken sockets without being asked. The next read or write reveals the
    /// error.
    final void tell(int what, Ready ready) {
      int told = (what & (EPOLLERR | EPOLLHUP)) == 0 ? what & wanted : wanted;
      if (owner != null && told != 0) {
        ready.ready(owner, (told & EPOLLIN) != 0, (told & EPOLLOUT) != 0);
      }
    }

    /// The kernel reports broken sockets even when nothing is wanted; edge-triggered, it does so
    /// once and not again and again.
    final void want(int what, boolean now) {
      int next = now ? wanted | what : wanted & ~what;
      if (next == wanted || socket < 0) {
        return;
      }
      try {
        control(EPOLL_CTL_MOD, socket, next == 0 ? EPOLLET : next, place);
      } catch (IOException impossible) {
        throw new IllegalStateException("a socket of ours is not watched", impossible);
      }
      wanted = next;
    }

    private void leave() {
      places[place] = null;
      freed[freedCount++] = place;
    }

    public void close() {
      if (socket >= 0) {
        if (owner != null) {
          leave();
        }
        syscalls.close(socket);
        socket = -1;
      }
    }
  }

  private final class EpollListeningSocket extends Descriptor implements ListeningSocket {
    EpollListeningSocket(int socket) {
      super(socket);
    }

    @Override
    public int port() {
      int result = syscalls.getsockname(socket, address.address(), roomForAddress());
      return result < 0 ? 0 : takeAddress().getPort();
    }

    @Override
    public void open(Object owner) throws IOException {
      own(owner);
    }

    @Override
    public void listening(boolean now) {
      want(EPOLLIN, now);
    }

    @Override
    public @Nullable Arrival accept() throws IOException {
      while (true) {
        int accepted =
            syscalls.accept(socket, address.address(), roomForAddress(), NONBLOCK_AND_CLOEXEC);
        if (accepted >= 0) {
          return arrival(accepted);
        }
        if (accepted == -Syscalls.EAGAIN) {
          return null;
        }
        if (!CLIENT_GONE.contains(-accepted)) {
          IOException refusal = Syscalls.failed("accept4", accepted);
          throw NO_DESCRIPTOR.contains(-accepted)
              ? new ListeningSocket.NoDescriptor(refusal)
              : refusal;
        }
      }
    }
  }

  private ListeningSocket.Arrival arrival(int accepted) {
    try {
      return new ListeningSocket.Arrival(new EpollWire(accepted), takeAddress().getAddress());
    } catch (RuntimeException | Error failed) {
      syscalls.close(accepted);
      throw failed;
    }
  }

  private final class EpollWire extends Descriptor implements Wire {
    EpollWire(int socket) {
      super(socket);
    }

    @Override
    public void join(Object owner) throws IOException {
      own(owner);
    }

    @Override
    public int read(ByteBuffer to) throws IOException {
      int room = to.remaining();
      int read = syscalls.recv(socket, addressOf(to), room);
      if (read > 0) {
        to.position(to.position() + read);
        return read;
      }
      return read == 0 && room > 0 ? -1 : noneOrThrow("recv", read);
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      int written = syscalls.send(socket, addressOf(from), from.remaining());
      if (written > 0) {
        from.position(from.position() + written);
        return written;
      }
      return noneOrThrow("send", written);
    }

    @Override
    public void reading(boolean now) {
      want(EPOLLIN, now);
    }

    @Override
    public void writing(boolean now) {
      want(EPOLLOUT, now);
    }

    @Override
    public boolean hasPeerLeft() {
      // struct pollfd. The kernel adds POLLERR and POLLHUP by itself.
      value.set(JAVA_INT, 0, socket);
      value.set(JAVA_SHORT, 4, POLLRDHUP);
      value.set(JAVA_SHORT, 6, (short) 0);
      return syscalls.poll(value.address(), 1, 0) > 0;
    }

    @Override
    public void shutdownOutput() throws IOException {
      int result = syscalls.shutdown(socket, SHUT_WR);
      // The next read reports a peer that has gone.
      if (result != -ENOTCONN) {
        orThrow("shutdown", result);
      }
    }

    @Override
    public void reset() {
      // struct linger: on, with zero seconds.
      value.set(JAVA_INT, 0, 1);
      value.set(JAVA_INT, 4, 0);
      syscalls.setsockopt(socket, SOL_SOCKET, SO_LINGER, value.address(), 8);
      close();
    }
  }
}
