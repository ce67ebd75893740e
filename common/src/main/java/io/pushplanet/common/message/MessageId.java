package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.UUID;
import java.util.regex.Pattern;

/// A message: a UUIDv7 in canonical lower-case form (RFC 9562, section 5.7), so that ids sort by the time they were made
/// and an id alone tells the day whose partition holds it.
public record MessageId(@JsonValue String value) implements Comparable<MessageId> {
  private static final Pattern FORM =
      Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public MessageId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("a message id is a UUID of version 7 in lower case");
    }
  }

  public static boolean isValid(String value) {
    return FORM.matcher(value).matches();
  }

  /// When it was made, to the millisecond.
  public Instant time() {
    return Instant.ofEpochMilli(UUID.fromString(value).getMostSignificantBits() >>> 16);
  }

  /// The UTC day it was made: the partition of its rows.
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
