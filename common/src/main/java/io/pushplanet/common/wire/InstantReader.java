package io.pushplanet.common.wire;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;
import tools.jackson.databind.ext.javatime.deser.InstantDeserializer;

/// Reads times as [Instant#toString] writes them, by hand: each push, event and route has some, and
/// a formatter costs ten times as much. Any other form is left to Jackson.
final class InstantReader extends StdDeserializer<Instant> {
  private static final int WITHOUT_FRACTION = "2026-11-21T12:00:00".length();
  private static final int MAX_DIGITS = 9;

  InstantReader() {
    super(Instant.class);
  }

  @Override
  public Instant deserialize(JsonParser parser, DeserializationContext context) {
    Instant plain =
        parser.currentToken() == JsonToken.VALUE_STRING ? plain(parser.getString()) : null;
    return plain == null ? InstantDeserializer.INSTANT.deserialize(parser, context) : plain;
  }

  /// @return null for another form
  static @Nullable Instant plain(String text) {
    int end = text.length() - 1;
    int year = end < WITHOUT_FRACTION ? -1 : number(text, 0, 4);
    if (year < 0
        || text.charAt(4) != '-'
        || text.charAt(7) != '-'
        || text.charAt(10) != 'T'
        || text.charAt(13) != ':'
        || text.charAt(16) != ':'
        || text.charAt(end) != 'Z') {
      return null;
    }
    int nanos = 0;
    if (end > WITHOUT_FRACTION) {
      int digits = end - WITHOUT_FRACTION - 1;
      if (text.charAt(WITHOUT_FRACTION) != '.' || digits < 1 || digits > MAX_DIGITS) {
        return null;
      }
      nanos = number(text, WITHOUT_FRACTION + 1, end);
      for (int missing = digits; missing < MAX_DIGITS; missing++) {
        nanos *= 10;
      }
    }
    try {
      // A part that is not a number is -1, which is out of range for all parts.
      return LocalDateTime.of(
              year,
              number(text, 5, 7),
              number(text, 8, 10),
              number(text, 11, 13),
              number(text, 14, 16),
              number(text, 17, 19),
              nanos)
          .toInstant(ZoneOffset.UTC);
    } catch (DateTimeException e) {
      return null;
    }
  }

  private static int number(String text, int from, int to) {
    int number = 0;
    for (int index = from; index < to; index++) {
      int digit = text.charAt(index) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = 10 * number + digit;
    }
    return number;
  }
}
