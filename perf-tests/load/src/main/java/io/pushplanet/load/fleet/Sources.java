package io.pushplanet.load.fleet;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// Where a fleet's devices come from.
@FunctionalInterface
interface Sources {
  int DEVICES_PER_ADDRESS = 2_000;

  /// @param number of the device, from 0
  /// @return an address of this machine with port 0; null for whichever the kernel takes
  @Nullable InetSocketAddress of(int number);

  /// Several addresses of 127.0.0.0/8, which all are Linux' own: from a single one every `connect` past some 14,000 searches
  /// thousands of taken ports in the kernel, and a port is taken for a minute after its connection has ended.
  ///
  /// @param process fleets of different processes come from different addresses, up to 250 of them
  /// @param fleet so do fleets of one process, one after the other
  static Sources ofLoopback(long process, int fleet) {
    String network = "127." + (1 + fleet % 250) + "." + (1 + process % 250) + ".";
    return number -> new InetSocketAddress(network + (1 + number / DEVICES_PER_ADDRESS), 0);
  }
}
