package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.HexFormat;

/// A message: a UUIDv7 in canonical lower-case form (RFC 9562, section 5.7), so that ids sort by
/// their creation, and an id alone tells the day whose partition holds it.
public record MessageId(@JsonValue String value) implements Comparable<MessageId> {
  private static final int LENGTH = 36;

  /// The first id of the year 10000, which no `DATE` of MySQL holds.
  private static final String PAST_ALL_DAYS = "e677d21f-dc00";

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public MessageId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("a message id is a UUID of version 7 in lower case");
    }
  }

  /// Whether it has that form and a day up to 9999-12-31: devices and callers may send anything.
  // Parsed by hand: every event and every push has one, and a pattern costs ten times as much.
  public static boolean isValid(String value) {
    if (value.length() != LENGTH
        || value.charAt(14) != '7'
        || "89ab".indexOf(value.charAt(19)) < 0) {
      return false;
    }
    for (int index = 0; index < LENGTH; index++) {
      char each = value.charAt(index);
      boolean fits =
          (index == 8 || index == 13 || index == 18 || index == 23)
              ? each == '-'
              : (each >= '0' && each <= '9') || (each >= 'a' && each <= 'f');
      if (!fits) {
        return false;
      }
    }
    return value.compareTo(PAST_ALL_DAYS) < 0;
  }

  /// The time of its creation, in milliseconds.
  public Instant time() {
    return Instant.ofEpochMilli(
        (HexFormat.fromHexDigitsToLong(value, 0, 8) << 16)
            | HexFormat.fromHexDigitsToLong(value, 9, 13));
  }

  /// The UTC day of its creation: the partition of its rows.
  public LocalDate day() {
    return LocalDate.ofInstant(time(), ZoneOffset.UTC);
  }

  @Override
  public int compareTo(MessageId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
