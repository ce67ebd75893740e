package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;

/// The sockets of one event loop, and what it waits on. Confined to the loop's thread, but for [#wakeup]; before
/// that runs, to whoever makes it.
///
/// What is told is what is so, not what has changed: who has bytes to read is told again in the next [#poll] unless they have been
/// read (level-triggered). Who takes the place of one that was closed in the same round may be told once too often, so being told is a hint to
/// try.
public interface Poller extends AutoCloseable {
  /// From whom nothing has come for so long, the kernel asks whether he is still there (SO_KEEPALIVE): a peer that is gone without
  /// a word is found though nothing is ever sent to it. Long enough that nobody is asked who pings at least every half an hour: it would wake his radio, and keep
  /// alive in his network what is to show how long it lives.
  Duration ASKS_AFTER = Duration.ofMinutes(45);

  /// Between two such questions.
  Duration ASKS_EVERY = Duration.ofSeconds(75);

  /// So many without an answer are the end of the connection.
  int ASKS_TIMES = 8;

  /// A socket with which something can be done. Called within [#poll].
  interface Ready {
    /// @param owner who [joined][Wire#join] or [opened][ListeningSocket#open] with it
    /// @param readable there may be bytes, a connection, the end or an error to read
    /// @param writable the kernel may take bytes again
    void ready(Object owner, boolean readable, boolean writable);
  }

  /// Waits until a socket is ready, [#wakeup] is called, or the time is over. The kernel's timers are some 80 us late for
  /// most threads, 50 of them on purpose (PR_SET_TIMERSLACK, https://man7.org/linux/man-pages/man2/prctl.2.html), and where only milliseconds can
  /// be waited for, they are rounded up: nobody who waits for a deadline turns in vain just before it.
  ///
  /// @param timeoutNanos 0 or less to look without waiting; [Long#MAX_VALUE] is as good as for ever
  void poll(long timeoutNanos, Ready ready) throws IOException;

  /// Ends the wait under way, or the next one. From any thread, and at any time.
  void wakeup();

  /// A listening socket that shares its port with other such sockets of this user (SO_REUSEPORT), and asks whoever it accepts
  /// after [#ASKS_AFTER].
  ///
  /// @param address port 0 takes any free one; the wildcard takes IPv4 and IPv6
  /// @param backlog connections that may wait to be accepted
  ListeningSocket listen(InetSocketAddress address, int backlog) throws IOException;

  /// Sockets stay open: who has them closes them, before.
  @Override
  void close() throws IOException;
}
