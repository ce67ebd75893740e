package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// A listening socket of a [Poller].
public interface ListeningSocket {
  int port();

  /// From now on `owner` is told when a connection waits to be accepted.
  void open(Object owner) throws IOException;

  /// Sets whether the owner is told. Otherwise connections wait in the kernel's accept queue.
  void listening(boolean wanted);

  /// @return null when no connection waits
  /// @throws NoDescriptor when the process or the machine has no descriptor left
  /// @throws IOException when the kernel refuses for another reason, for example for want of memory
  @Nullable Arrival accept() throws IOException;

  void close();

  /// The only refusal that an operator can remedy.
  final class NoDescriptor extends IOException {
    NoDescriptor(IOException refusal) {
      super(refusal);
    }
  }

  /// An accepted connection. Its bytes are not reported before it has [joined][Wire#join].
  record Arrival(Wire wire, InetAddress source) {}
}
