package io.pushplanet.common.settings;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Boot's nested jar, which is meant to be unpacked and not to be run. Its class loader holds one
/// monitor while it waits for another, and a virtual thread that waits so keeps its carrier thread:
/// when every carrier meanwhile loads a class from the same inner jar, none of them ever continues,
/// and the process hangs without a word. With two processors and twelve clients that sent requests
/// during the start, one start in 40 hung
/// (https://github.com/spring-projects/spring-boot/issues/51463). No such fault is known for
/// unpacked jars.
final class BootJar {
  private static final Logger LOG = LoggerFactory.getLogger(BootJar.class);

  /// `jar:nested:/opt/dashboard-1-boot.jar/!BOOT-INF/lib/common-1.jar!/`
  /// (https://docs.spring.io/spring-boot/specification/executable-jar/jarfile-class.html).
  private static final Pattern INNER = Pattern.compile("jar:nested:(.+)/!.+");

  private BootJar() {}

  /// Logs what to do when this program runs from a nested jar.
  static void tell() {
    around(BootJar.class.getProtectionDomain().getCodeSource().getLocation().toString())
        .ifPresent(jar ->
            LOG.warn(
                "event=boot_jar_not_extracted meaning=\"from {} itself this process may hang for ever\" hint=\"java"
                    + " -Djarmode=tools -jar {} extract --destination DIRECTORY, and run the jar in DIRECTORY\"",
                jar,
                jar));
  }

  /// The path of the jar around the one at `location`, if there is one.
  static Optional<String> around(String location) {
    Matcher inner = INNER.matcher(location);
    return inner.matches() ? Optional.of(inner.group(1)) : Optional.empty();
  }
}
