package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which system calls wait for, read and write sockets.
public enum Sockets {
  /// [#EPOLL] where it is available, otherwise [#NIO].
  AUTO,
  /// The kernel's own calls: Linux on x86-64 or AArch64, in a JVM with
  /// `--enable-native-access=ALL-UNNAMED`.
  EPOLL,
  /// The JDK's selectors: on every platform, for about 540 bytes and 8 us of processor time more
  /// per connection.
  NIO;

  private static final Logger LOG = LoggerFactory.getLogger(Sockets.class);

  /// Resolves [#AUTO] on this machine.
  public Sockets resolved() {
    if (this != AUTO) {
      return this;
    }
    if (!EpollPoller.isSupported()) {
      return NIO;
    }
    if (!Sockets.class.getModule().isNativeAccessEnabled()) {
      LOG.warn(
          "event=epoll_not_enabled action=\"start the JVM with --enable-native-access=ALL-UNNAMED for smaller and cheaper connections\"");
      return NIO;
    }
    return EPOLL;
  }

  /// @throws IllegalStateException for [#EPOLL] on a machine without it
  public Poller open() throws IOException {
    if (resolved() == NIO) {
      return new NioPoller();
    }
    if (!EpollPoller.isSupported()) {
      throw new IllegalStateException(
          "cm.transport.sockets=epoll needs Linux on x86-64 or AArch64, and this is %s on %s: leave it at auto"
              .formatted(System.getProperty("os.name"), System.getProperty("os.arch")));
    }
    return new EpollPoller();
  }
}
