package io.pushplanet.common.node;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Pattern;

/// A connection manager: letters, digits, `.`, `_` and `-`, 1 to 64 characters.
public record NodeId(@JsonValue String value) {
  private static final Pattern FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");

  @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
  public NodeId {
    if (!FORM.matcher(value).matches()) {
      throw new IllegalArgumentException("a node id is 1 to 64 letters, digits and . _ -");
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
