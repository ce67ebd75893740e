package io.pushplanet.load.fleet;

import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/// The source addresses of a fleet's devices.
@FunctionalInterface
interface Sources {
  int DEVICES_PER_ADDRESS = 2_000;

  /// @param number of the device, from 0
  /// @return an address of this machine with port 0; null: the kernel chooses
  @Nullable InetSocketAddress of(int number);

  /// Several addresses of 127.0.0.0/8, all of which are this machine's on Linux. From one address
  /// alone, every `connect` past some 14,000 would search thousands of used ports in the kernel,
  /// and a port stays used for a minute after its connection has ended.
  ///
  /// @param process fleets of different processes use different addresses, up to 250 processes
  /// @param fleet so do successive fleets of one process
  static Sources ofLoopback(long process, int fleet) {
    String network = "127." + (1 + fleet % 250) + "." + (1 + process % 250) + ".";
    return number -> new InetSocketAddress(network + (1 + number / DEVICES_PER_ADDRESS), 0);
  }
}
