package io.pushplanet.cm.transport.gate;

import java.net.InetAddress;
import java.util.List;
import java.util.stream.Stream;

/// An address block, written as `10.0.0.0/8`, `2001:db8::/32` or as one address. Immutable.
record AddressBlock(InetAddress base, int bits) {
  AddressBlock {
    int longest = base.getAddress().length * Byte.SIZE;
    if (bits < 0 || bits > longest) {
      throw new IllegalArgumentException(
          "the prefix of " + base.getHostAddress() + " must be 0 to " + longest + " bits long");
    }
  }

  /// @param text blocks separated by commas; blank for none
  static List<AddressBlock> parseAll(String text) {
    return Stream.of(text.split(","))
        .map(String::strip)
        .filter(part -> !part.isEmpty())
        .map(AddressBlock::parse)
        .toList();
  }

  private static AddressBlock parse(String text) {
    int slash = text.indexOf('/');
    try {
      var base = InetAddress.ofLiteral(slash < 0 ? text : text.substring(0, slash));
      int bits =
          slash < 0
              ? base.getAddress().length * Byte.SIZE
              : Integer.parseInt(text.substring(slash + 1));
      return new AddressBlock(base, bits);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "cm.admission.unlimited-sources: \"" + text + "\" is no address block like 10.0.0.0/8",
          wrong);
    }
  }

  boolean contains(InetAddress address) {
    byte[] mine = base.getAddress();
    byte[] other = address.getAddress();
    if (mine.length != other.length) {
      return false;
    }
    for (int bit = 0; bit < bits; bit += Byte.SIZE) {
      int differing = (mine[bit / Byte.SIZE] ^ other[bit / Byte.SIZE]) & 0xFF;
      int counted = Math.min(Byte.SIZE, bits - bit);
      if (differing >>> (Byte.SIZE - counted) != 0) {
        return false;
      }
    }
    return true;
  }
}
