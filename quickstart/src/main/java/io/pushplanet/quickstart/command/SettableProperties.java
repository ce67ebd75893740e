package io.pushplanet.quickstart.command;

import io.pushplanet.common.settings.KnownSettings;
import io.pushplanet.quickstart.platform.Program;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.springframework.boot.convert.ApplicationConversionService;
import org.springframework.core.convert.ConversionException;
import org.springframework.util.unit.DataSize;

/// The properties that `--set` may name. A program gets them as environment variables, and only
/// logs a line about a variable that it does not know. So a misspelt property is refused here.
final class SettableProperties {
  private static final List<String> MODULES =
      List.of("common", "dispatcher-api", "gateway-worker", "connection-manager", "dashboard");

  /// Prefixes of Spring Boot and MyBatis, which have too many properties to check.
  private static final Set<String> OTHERS =
      Set.of("debug", "info", "logging", "management", "mybatis", "server", "spring", "trace");

  /// Types whose values are checked here already.
  private static final Map<String, Type> TYPES =
      Stream.of(
              new Type(Boolean.class, "true or false"),
              new Type(Integer.class, "a whole number"),
              new Type(Long.class, "a whole number"),
              new Type(Double.class, "a number"),
              new Type(Duration.class, "a duration such as 500ms, 30s, 5m or PT5M"),
              new Type(DataSize.class, "a size such as 512KB or 16MB"))
          .collect(Collectors.toUnmodifiableMap(type -> type.java().getName(), type -> type));

  /// With more differing letters it is another word.
  private static final int MAX_WRONG = 4;

  private static final int MAX_NAMED = 3;

  private record Type(Class<?> java, String words) {}

  private SettableProperties() {}

  /// @param root the repository, with its modules built
  /// @throws Refusal when no program has one of them, or no program can read its value
  static void check(Path root, Map<String, String> given) {
    if (given.keySet().stream().allMatch(SettableProperties::isOthers)) {
      return;
    }
    KnownSettings known = known(root);
    given.forEach((property, value) -> {
      if (isOthers(property)) {
        return;
      }
      if (!reaches(property, known)) {
        throw Options.usage(
            "--set names no setting: '" + property + "'" + nearest(property, known.names()));
      }
      known.type(property).map(TYPES::get).ifPresent(type -> check(property, value, type));
    });
  }

  private static void check(String property, String value, Type type) {
    // Spring replaces the text in such braces.
    if (value.contains("${")) {
      return;
    }
    try {
      if (ApplicationConversionService.getSharedInstance().convert(value, type.java()) != null) {
        return;
      }
    } catch (ConversionException e) {
      // Reported below, in terms of the command line.
    }
    throw Options.usage(
        "--set=%s=%s: '%s' is not %s".formatted(property, value, value, type.words()));
  }

  /// Spring Boot binds `CM_MQTT_PORT`, too, but only where there is no `CM_MQTTPORT`, which a
  /// program may have already.
  private static boolean reaches(String property, KnownSettings known) {
    String variable = Program.variable(property);
    return known.has(property)
        && known.names().stream()
            .map(Program::variable)
            .anyMatch(name -> variable.equals(name) || variable.startsWith(name + "_"));
  }

  private static boolean isOthers(String property) {
    return OTHERS.contains(property.split("\\.", 2)[0]);
  }

  private static KnownSettings known(Path root) {
    KnownSettings known = new KnownSettings();
    for (String module : MODULES) {
      Path metadata =
          root.resolve(module).resolve("target/classes").resolve(KnownSettings.METADATA);
      try {
        known.add(Files.readString(metadata));
      } catch (IOException e) {
        throw new ProcessFailed(
            "there is no " + metadata + ". Build first: ./mvnw -Pfast -DskipTests package", e);
      }
    }
    return known;
  }

  private static String nearest(String wrong, Collection<String> names) {
    String property = wrong.toLowerCase(Locale.ROOT).replace('_', '.');
    ToIntFunction<String> distance = name -> distance(property, name);
    int least = names.stream().mapToInt(distance).min().orElse(Integer.MAX_VALUE);
    if (least > MAX_WRONG) {
      return "; docs/settings.md has them all";
    }
    return names.stream()
        .filter(name -> distance.applyAsInt(name) == least)
        .limit(MAX_NAMED)
        .collect(Collectors.joining(" or ", "; did you mean ", "?"));
  }

  /// How many letters must be added, removed or changed to turn one word into the other
  /// (https://en.wikipedia.org/wiki/Levenshtein_distance).
  private static int distance(String one, String other) {
    int[] above = IntStream.rangeClosed(0, other.length()).toArray();
    for (int i = 1; i <= one.length(); i++) {
      int[] row = new int[above.length];
      row[0] = i;
      for (int j = 1; j < row.length; j++) {
        int changed = above[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(changed, 1 + Math.min(above[j], row[j - 1]));
      }
      above = row;
    }
    return above[other.length()];
  }
}
