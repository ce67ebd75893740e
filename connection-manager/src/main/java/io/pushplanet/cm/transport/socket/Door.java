package io.pushplanet.cm.transport.socket;

import java.io.IOException;
import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/// A listening socket of a [Poller].
public interface Door {
  int port();

  /// From now on `owner` is told who waits to be accepted.
  void open(Object owner) throws IOException;

  /// Whether the owner is told. Whoever comes while it is not, waits in the kernel's line.
  void listening(boolean wanted);

  /// @return null when nobody waits
  /// @throws IOException when the process or the machine has no descriptor or no memory for one more
  @Nullable Arrival accept() throws IOException;

  void close();

  /// One that has come. Nobody is told of its bytes before it has [joined][Wire#join].
  record Arrival(Wire wire, InetAddress source) {}
}
