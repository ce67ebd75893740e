package io.pushplanet.gateway.http2;

import io.netty.buffer.ByteBuf;
import io.pushplanet.gateway.connection.ProviderRequest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Writes header blocks (HPACK, RFC 7541) the way Apple asks for
/// (https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns).
/// The path and secrets never enter the table. A field whose value differs between messages enters
/// it once, for its name. All other fields are an index after their first use. Nothing is
/// Huffman-coded: a few bytes less are not worth the time.
///
/// Confined to its connection's event loop.
final class HeaderTable {
  /// The size with which both ends start (RFC 9113, section 6.5.2). A larger one that a peer offers
  /// is not used.
  private static final int MAX_BYTES = 4_096;

  /// Longer values would evict the others.
  private static final int LONGEST_KEPT = 512;

  private static final int ENTRY_OVERHEAD = 32;
  private static final int STATIC_ENTRIES = 61;

  private static final int METHOD_POST = 3;
  private static final int SCHEME_HTTP = 6;
  private static final int SCHEME_HTTPS = 7;
  private static final String AUTHORITY = ":authority";
  private static final String PATH = ":path";

  private static final int INDEXED = 0x80;
  private static final int KEPT = 0x40;
  private static final int SIZE_UPDATE = 0x20;
  private static final int NEVER_KEPT = 0x10;
  private static final int NOT_KEPT = 0x00;

  private static final Map<String, Integer> STATIC_NAMES =
      Map.of(
          AUTHORITY,
          1,
          PATH,
          4,
          "authorization",
          23,
          "content-length",
          28,
          "content-type",
          31,
          "user-agent",
          58);

  private static final Set<String> DIFFERENT_EACH_TIME =
      Set.of("apns-id", "apns-expiration", "apns-collapse-id", "content-length");

  private record Entry(long number, String name, String value, int bytes) {}

  private static final class Name {
    long last;
    final Map<String, Long> values = new HashMap<>();
  }

  private final Deque<Entry> entries = new ArrayDeque<>();
  private final Map<String, Name> names = new HashMap<>();
  private long inserted;
  private int bytes;
  private int limit = MAX_BYTES;
  private int smallestUntold = MAX_BYTES;
  private boolean untold;

  /// The peer keeps a table of at most so many bytes (SETTINGS_HEADER_TABLE_SIZE).
  void peerKeeps(long most) {
    int now = (int) Math.min(MAX_BYTES, most);
    if (now == limit) {
      return;
    }
    smallestUntold = untold ? Math.min(smallestUntold, now) : now;
    untold = true;
    limit = now;
    shrinkTo(now);
  }

  /// Writes the header block of a POST.
  void write(ByteBuf out, boolean tls, String authority, ProviderRequest request) {
    if (untold) {
      if (smallestUntold < limit) {
        integer(out, SIZE_UPDATE, 5, smallestUntold);
      }
      integer(out, SIZE_UPDATE, 5, limit);
      untold = false;
    }
    out.writeByte(INDEXED | METHOD_POST);
    out.writeByte(INDEXED | (tls ? SCHEME_HTTPS : SCHEME_HTTP));
    literal(out, NOT_KEPT, 4, PATH, request.path());
    field(out, AUTHORITY, authority);
    field(out, "user-agent", "push-planet");
    field(out, "content-type", "application/json");
    field(out, "content-length", Integer.toString(request.body().length));
    for (ProviderRequest.Field field : request.headers()) {
      if (field.secret()) {
        literal(out, NEVER_KEPT, 4, field.name(), field.value());
      } else {
        field(out, field.name(), field.value());
      }
    }
  }

  private void field(ByteBuf out, String name, String value) {
    Name known = names.get(name);
    if (known != null) {
      Long number = known.values.get(value);
      if (number != null) {
        integer(out, INDEXED, 7, indexOf(number));
        return;
      }
    }
    boolean nameIsKnown = known != null || STATIC_NAMES.containsKey(name);
    int size = name.length() + value.length() + ENTRY_OVERHEAD;
    boolean nameIsEnough = nameIsKnown && DIFFERENT_EACH_TIME.contains(name);
    if (size > LONGEST_KEPT || size > limit || nameIsEnough) {
      literal(out, NOT_KEPT, 4, name, value);
      return;
    }
    literal(out, KEPT, 6, name, value);
    keep(name, value, size);
  }

  private void keep(String name, String value, int size) {
    shrinkTo(limit - size);
    Entry entry = new Entry(inserted++, name, value, size);
    entries.addLast(entry);
    bytes += size;
    Name known = names.computeIfAbsent(name, _ -> new Name());
    known.last = entry.number;
    known.values.put(value, entry.number);
  }

  private void shrinkTo(int most) {
    while (bytes > most) {
      Entry oldest = entries.removeFirst();
      bytes -= oldest.bytes;
      Name name = names.get(oldest.name);
      if (name != null) {
        name.values.remove(oldest.value, oldest.number);
        if (name.last == oldest.number) {
          names.remove(oldest.name);
        }
      }
    }
  }

  private int indexOf(long number) {
    return (int) (STATIC_ENTRIES + inserted - number);
  }

  private void literal(ByteBuf out, int pattern, int prefixBits, String name, String value) {
    int index = nameIndex(name);
    integer(out, pattern, prefixBits, index);
    if (index == 0) {
      string(out, name);
    }
    string(out, value);
  }

  private int nameIndex(String name) {
    Integer fixed = STATIC_NAMES.get(name);
    if (fixed != null) {
      return fixed;
    }
    @Nullable Name known = names.get(name);
    return known == null ? 0 : indexOf(known.last);
  }

  private static void string(ByteBuf out, String text) {
    integer(out, 0, 7, text.length());
    out.writeCharSequence(text, StandardCharsets.US_ASCII);
  }

  /// Writes an integer (RFC 7541, section 5.1).
  private static void integer(ByteBuf out, int pattern, int prefixBits, int value) {
    int most = (1 << prefixBits) - 1;
    if (value < most) {
      out.writeByte(pattern | value);
      return;
    }
    out.writeByte(pattern | most);
    int rest = value - most;
    while (rest >= 0x80) {
      out.writeByte((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    out.writeByte(rest);
  }
}
