package io.pushplanet.common.device;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Pattern;

/// A device within its app, and its MQTT client id: letters, digits, `.`, `_`, `:` and `-`, 1 to 64 characters.
public record DeviceId(@JsonValue String value) implements Comparable<DeviceId> {
  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9._:-]{1,64}");

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public DeviceId {
    if (!isValid(value)) {
      throw new IllegalArgumentException("a device id is 1 to 64 letters, digits and . _ : -");
    }
  }

  public static boolean isValid(String value) {
    return FORM.matcher(value).matches();
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
