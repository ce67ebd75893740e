package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/// An app (tenant): lower-case letters, digits and hyphens, 1 to 64 characters, starting with a
/// letter or digit.
public record AppId(@JsonValue String value) implements Comparable<AppId> {
  private static final int LONGEST = 64;

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public AppId {
    if (!isValid(value)) {
      throw new IllegalArgumentException(
          "an app id is 1 to 64 lower-case letters, digits and hyphens, not starting with a hyphen");
    }
  }

  // Parsed by hand, as in DeviceId.
  public static boolean isValid(String value) {
    if (value.isEmpty() || value.length() > LONGEST || value.charAt(0) == '-') {
      return false;
    }
    for (int index = 0; index < value.length(); index++) {
      char each = value.charAt(index);
      boolean alphanumeric = (each >= 'a' && each <= 'z') || (each >= '0' && each <= '9');
      if (!alphanumeric && each != '-') {
        return false;
      }
    }
    return true;
  }

  @Override
  public int compareTo(AppId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
