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
  /// thousands of taken ports in the kernel.
  ///
  /// @param fleet fleets of different numbers come from different addresses, up to 250 of them
  static Sources ofLoopback(long fleet) {
    return number ->
        new InetSocketAddress(
            "127.1." + (1 + fleet % 250) + "." + (1 + number / DEVICES_PER_ADDRESS), 0);
  }
}
