package io.pushplanet.quickstart.platform;

import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/// The address on which the platform listens for apps, operators and devices: the API, the
/// dashboard and MQTT ([Listener#isPublic]). All other listeners are for this machine alone,
/// whatever this is.
///
/// @param listen `127.0.0.1` for this machine alone too, `0.0.0.0` for all its addresses, or one of
///     these
public record PublicAddress(InetAddress listen) {
  static final String LOOPBACK = "127.0.0.1";
  public static final PublicAddress THIS_MACHINE =
      new PublicAddress(Inet4Address.ofLiteral(LOOPBACK));

  /// For examples (https://www.rfc-editor.org/rfc/rfc5737): nobody has it.
  private static final InetAddress ELSEWHERE = Inet4Address.ofLiteral("192.0.2.1");

  private static final int ANY_PORT = 9;

  /// @throws IllegalArgumentException for anything but an IPv4 address of this machine
  public static PublicAddress parse(String text) {
    InetAddress address = Inet4Address.ofLiteral(text);
    if (!address.isAnyLocalAddress() && !address.isLoopbackAddress() && !isOurs(address)) {
      throw new IllegalArgumentException(text + " is not an address of this machine");
    }
    return new PublicAddress(address);
  }

  private static boolean isOurs(InetAddress address) {
    try {
      return NetworkInterface.getByInetAddress(address) != null;
    } catch (SocketException e) {
      return false;
    }
  }

  /// Whether other machines reach it.
  boolean isOpen() {
    return !listen.isLoopbackAddress();
  }

  String text() {
    return listen.getHostAddress();
  }

  /// The host by which this machine reaches it.
  String localHost() {
    return listen.isAnyLocalAddress() ? LOOPBACK : text();
  }

  /// The host by which its network reaches it: this machine's address on the way to the outside
  /// where all addresses are listened on, the loopback address where there is no network.
  String networkHost() {
    return listen.isAnyLocalAddress() ? addressTowardsOthers() : text();
  }

  /// To connect a datagram socket sends nothing, but it chooses the way.
  private static String addressTowardsOthers() {
    try (var socket = new DatagramSocket()) {
      socket.connect(ELSEWHERE, ANY_PORT);
      InetAddress own = socket.getLocalAddress();
      return own instanceof Inet4Address && !own.isAnyLocalAddress()
          ? own.getHostAddress()
          : LOOPBACK;
    } catch (SocketException | UncheckedIOException e) {
      return LOOPBACK;
    }
  }
}
