package io.pushplanet.simulators.tls;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/// The few DER forms an X.509 certificate needs
/// (https://www.rfc-editor.org/rfc/rfc5280#section-4.1).
final class Der {
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  private Der() {}

  static byte[] tagged(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream whole = new ByteArrayOutputStream();
    whole.write(tag);
    int length = content.size();
    if (length < 0x80) {
      whole.write(length);
    } else {
      byte[] lengthBytes = BigInteger.valueOf(length).toByteArray();
      int skip = lengthBytes[0] == 0 ? 1 : 0;
      whole.write(0x80 | (lengthBytes.length - skip));
      whole.write(lengthBytes, skip, lengthBytes.length - skip);
    }
    whole.writeBytes(content.toByteArray());
    return whole.toByteArray();
  }

  static byte[] sequence(byte[]... parts) {
    return tagged(0x30, parts);
  }

  static byte[] set(byte[]... parts) {
    return tagged(0x31, parts);
  }

  static byte[] integer(BigInteger value) {
    return tagged(0x02, value.toByteArray());
  }

  static byte[] yes() {
    return tagged(0x01, new byte[] {(byte) 0xff});
  }

  static byte[] text(String value) {
    return tagged(0x0c, value.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] octets(byte[] value) {
    return tagged(0x04, value);
  }

  static byte[] bits(byte[] value) {
    return tagged(0x03, new byte[] {0}, value);
  }

  static byte[] time(Instant at) {
    return tagged(0x18, TIME.format(at).getBytes(StandardCharsets.US_ASCII));
  }

  static byte[] oid(String dotted) {
    String[] arcs = dotted.split("\\.");
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(Integer.parseInt(arcs[0]) * 40 + Integer.parseInt(arcs[1]));
    for (int i = 2; i < arcs.length; i++) {
      long arc = Long.parseLong(arcs[i]);
      for (int shift = 63 - Long.numberOfLeadingZeros(Math.max(arc, 1)); shift >= 7; shift -= 7) {
        int group = shift / 7;
        out.write((int) ((arc >> (group * 7)) & 0x7f) | 0x80);
      }
      out.write((int) (arc & 0x7f));
    }
    return tagged(0x06, out.toByteArray());
  }
}
