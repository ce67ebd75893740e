package io.pushplanet.common.device;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;

/// A device within its app, and its MQTT client id: letters, digits, `.`, `_`, `:` and `-`, 1 to 64
/// characters.
public record DeviceId(@JsonValue String value) implements Comparable<DeviceId> {
  private static final int LONGEST = 64;

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public DeviceId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("a device id is 1 to 64 letters, digits and . _ : -");
    }
  }

  // Parsed by hand: a node checks one for each target of a frame, and a pattern costs fifteen times
  // as much.
  public static boolean isValid(String value) {
    if (value.isEmpty() || value.length() > LONGEST) {
      return false;
    }
    for (int index = 0; index < value.length(); index++) {
      char each = value.charAt(index);
      boolean alphanumeric =
          (each >= 'a' && each <= 'z')
              || (each >= '0' && each <= '9')
              || (each >= 'A' && each <= 'Z');
      if (!alphanumeric && each != '-' && each != '.' && each != '_' && each != ':') {
        return false;
      }
    }
    return true;
  }

  @Override
  public int compareTo(DeviceId other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
