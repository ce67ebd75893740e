package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// A listening socket of a [Poller].
public interface ListeningSocket {
  int port();

  /// From now on `owner` is told who waits to be accepted.
  void open(Object owner) throws IOException;

  /// Whether the owner is told. Whoever comes while it is not, waits in the kernel's line.
  void listening(boolean wanted);

  /// @return null when nobody waits
  /// @throws NoDescriptor when the process or the machine has none for one more
  /// @throws IOException when the kernel refuses for another reason, for want of memory for instance
  @Nullable Arrival accept() throws IOException;

  void close();

  /// The one reason for a refusal that an operator can do something about.
  final class NoDescriptor extends IOException {
    NoDescriptor(IOException refusal) {
      super(refusal);
    }
  }

  /// One that has come. Nobody is told of its bytes before it has [joined][Wire#join].
  record Arrival(Wire wire, InetAddress source) {}
}
