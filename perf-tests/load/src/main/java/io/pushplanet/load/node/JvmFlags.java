package io.pushplanet.load.node;

import java.nio.file.Path;
import java.util.List;

/// The flags of all JVMs under measurement, the same for each.
public final class JvmFlags {
  static final List<String> COMMON =
      List.of(
          "-XX:+UseG1GC",
          "-XX:+UseCompactObjectHeaders",
          "--enable-native-access=ALL-UNNAMED",
          "--sun-misc-unsafe-memory-access=allow");

  private JvmFlags() {}

  /// The program `java` of this JDK.
  public static String java() {
    return Path.of(System.getProperty("java.home"), "bin", "java").toString();
  }
}
