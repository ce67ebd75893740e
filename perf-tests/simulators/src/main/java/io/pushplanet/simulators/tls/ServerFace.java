package io.pushplanet.simulators.tls;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// The certificate that a server shows.
public enum ServerFace {
  /// Valid for this machine, from this authority.
  TRUSTED,
  /// From this authority, but expired.
  EXPIRED,
  /// From this authority, for another host.
  ELSEWHERE,
  /// From an unknown authority.
  STRANGER;

  /// Reads a name in lower case.
  public static ServerFace of(String name) {
    return Arrays.stream(values())
        .filter(face -> face.word().equals(name))
        .findFirst()
        .orElseThrow(() -> {
          List<String> known = Arrays.stream(values()).map(ServerFace::word).toList();
          return new IllegalArgumentException(
              "\"" + name + "\" is no certificate: use one of " + known);
        });
  }

  private String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
