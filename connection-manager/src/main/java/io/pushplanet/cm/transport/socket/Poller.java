package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The sockets of one event loop. Confined to the loop's thread, except [#wakeup]; before that
/// thread runs, to the thread that makes it.
///
/// It is level-triggered: a socket with unread bytes is reported again by the next [#poll]. A
/// socket that takes the place of one closed in the same round may be reported once too often, so a
/// report is only a hint to try.
public interface Poller extends AutoCloseable {
  /// After this silence the kernel probes the peer (SO_KEEPALIVE), so that a peer that vanished is
  /// noticed even if no bytes are ever sent to it. It is long enough that a device that pings every
  /// half an hour is never probed: a probe would wake its radio, and would keep alive a network
  /// path whose lifetime is being measured.
  Duration KEEP_ALIVE_AFTER = Duration.ofMinutes(45);

  /// The time between two probes.
  Duration KEEP_ALIVE_EVERY = Duration.ofSeconds(75);

  /// After this many unanswered probes the kernel ends the connection; after the first one where
  /// unacknowledged bytes have a limit, too ([#listen]).
  int KEEP_ALIVE_PROBES = 8;

  /// Receives the ready sockets, within [#poll].
  interface Ready {
    /// @param owner the object that the socket was [joined][Wire#join] or
    ///     [opened][ListeningSocket#open] with
    /// @param readable there may be bytes, a connection, the end or an error to read
    /// @param writable the kernel may take bytes again
    void ready(Object owner, boolean readable, boolean writable);
  }

  /// Waits until a socket is ready, [#wakeup] is called, or the time is over. For most threads the
  /// kernel's timers are about 80 us late, 50 of them on purpose (PR_SET_TIMERSLACK,
  /// https://man7.org/linux/man-pages/man2/prctl.2.html). Where only milliseconds are possible,
  /// they are rounded up, so that a loop does not wake in vain just before its deadline.
  ///
  /// @param timeoutNanos 0 or less to check without waiting; [Long#MAX_VALUE] to wait for ever
  void poll(long timeoutNanos, Ready ready) throws IOException;

  /// Ends the current wait, or the next one. From any thread, at any time.
  void wakeup();

  /// Opens a listening socket that shares its port with other such sockets of this user
  /// (SO_REUSEPORT), and whose connections are probed after [#KEEP_ALIVE_AFTER].
  ///
  /// @param address port 0 takes any free one; the wildcard takes IPv4 and IPv6
  /// @param backlog connections that may wait to be accepted
  /// @param unacknowledged the kernel ends a connection when bytes sent to its peer have been
  ///     unacknowledged, or the peer has had no room for more, for this long (TCP_USER_TIMEOUT,
  ///     https://man7.org/linux/man-pages/man7/tcp.7.html); milliseconds count, and 0 leaves it to
  ///     the kernel, which takes a quarter of an hour. Without effect on java.nio
  ListeningSocket listen(InetSocketAddress address, int backlog, Duration unacknowledged)
      throws IOException;

  /// Sockets stay open; their owners close them first.
  @Override
  void close() throws IOException;
}
