package io.pushplanet.common.message;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Pattern;

/// An app (tenant): lower-case letters, digits and hyphens, 1 to 64 characters, starting with a letter or digit.
public record AppId(@JsonValue String value) implements Comparable<AppId> {
  private static final Pattern FORM = Pattern.compile("[a-z0-9][a-z0-9-]{0,63}");

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public AppId {
    if (!isValid(value)) {
      throw new IllegalArgumentException(
          "an app id is 1 to 64 lower-case letters, digits and hyphens, not starting with a hyphen");
    }
  }

  public static boolean isValid(String value) {
    return FORM.matcher(value).matches();
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
