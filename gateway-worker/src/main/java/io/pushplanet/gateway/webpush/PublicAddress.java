package io.pushplanet.gateway.webpush;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.List;

/// Tells addresses of the public Internet from those of our own networks, after the registries of
/// special-purpose addresses (https://www.iana.org/assignments/iana-ipv4-special-registry,
/// https://www.iana.org/assignments/iana-ipv6-special-registry).
final class PublicAddress {
  /// Networks that cannot be reached from outside, or not at all.
  private static final List<Network> SPECIAL =
      List.of(
          Network.of("0.0.0.0", 8),
          Network.of("10.0.0.0", 8),
          Network.of("100.64.0.0", 10),
          Network.of("127.0.0.0", 8),
          Network.of("169.254.0.0", 16),
          Network.of("172.16.0.0", 12),
          Network.of("192.0.0.0", 24),
          Network.of("192.0.2.0", 24),
          Network.of("192.88.99.0", 24),
          Network.of("192.168.0.0", 16),
          Network.of("198.18.0.0", 15),
          Network.of("198.51.100.0", 24),
          Network.of("203.0.113.0", 24),
          Network.of("224.0.0.0", 3),
          // Teredo, ORCHID and other protocols' own
          Network.of("2001::", 23),
          Network.of("2001:db8::", 32),
          // 6to4 carries any IPv4 address
          Network.of("2002::", 16),
          Network.of("3fff::", 20));

  /// All IPv6 addresses that are assigned so far
  /// (https://www.rfc-editor.org/rfc/rfc4291#section-2.4).
  private static final Network GLOBAL_UNICAST = Network.of("2000::", 3);

  /// An IPv4 address behind a translator (https://www.rfc-editor.org/rfc/rfc6052#section-2.1).
  private static final Network TRANSLATED = Network.of("64:ff9b::", 96);

  private static final int IPV4_BYTES = 4;

  private PublicAddress() {}

  private record Network(byte[] prefix, int bits) {
    static Network of(String address, int bits) {
      return new Network(InetAddress.ofLiteral(address).getAddress(), bits);
    }

    boolean has(byte[] address) {
      if (address.length != prefix.length) {
        return false;
      }
      for (int bit = 0; bit < bits; bit++) {
        int mask = 0x80 >> (bit % Byte.SIZE);
        int at = bit / Byte.SIZE;
        if ((address[at] & mask) != (prefix[at] & mask)) {
          return false;
        }
      }
      return true;
    }
  }

  static boolean is(InetAddress address) {
    byte[] bytes = address.getAddress();
    if (address instanceof Inet4Address) {
      return !isSpecial(bytes);
    }
    if (TRANSLATED.has(bytes)) {
      return is(ipv4(Arrays.copyOfRange(bytes, bytes.length - IPV4_BYTES, bytes.length)));
    }
    return GLOBAL_UNICAST.has(bytes) && !isSpecial(bytes);
  }

  private static boolean isSpecial(byte[] address) {
    return SPECIAL.stream().anyMatch(network -> network.has(address));
  }

  private static InetAddress ipv4(byte[] bytes) {
    try {
      return InetAddress.getByAddress(bytes);
    } catch (UnknownHostException e) {
      throw new IllegalStateException("four bytes are an address", e);
    }
  }
}
