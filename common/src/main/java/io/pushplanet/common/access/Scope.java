package io.pushplanet.common.access;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/// The permissions of an API key. Stored as lower-case names joined by commas.
public enum Scope {
  /// Send messages, cancel them.
  SEND,
  /// Register, change and delete devices.
  DEVICES,
  /// Read messages, deliveries and devices.
  READ;

  public static Set<Scope> parse(String scopes) {
    return Arrays.stream(scopes.split(","))
        .filter(name -> !name.isBlank())
        .map(name -> Scope.valueOf(name.strip().toUpperCase(Locale.ROOT)))
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Scope.class)));
  }

  public static String format(Set<Scope> scopes) {
    return scopes.stream().sorted().map(Scope::word).collect(Collectors.joining(","));
  }

  /// The name as people write it: `send`.
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
