package io.pushplanet.quickstart.platform;

import io.pushplanet.common.settings.KnownSettings;
import io.pushplanet.quickstart.process.ProcessFailed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// What `--set` may name. A program gets it as an environment variable, and over one that it does not know it only writes a line
/// into its log: so what is misspelt is refused here.
final class SettableProperties {
  private static final List<String> MODULES =
      List.of("common", "dispatcher-api", "gateway-worker", "connection-manager", "dashboard");

  /// Of Spring Boot and MyBatis, which have too many to be looked at.
  private static final Set<String> OTHERS =
      Set.of("debug", "info", "logging", "management", "mybatis", "server", "spring", "trace");

  /// More letters to change, and it is another word.
  private static final int MOST_WRONG = 4;

  private static final int MOST_NAMED = 3;

  private SettableProperties() {}

  /// @param root the repository, with its modules built
  /// @throws Refusal when no program has one of them
  static void check(Path root, Collection<String> given) {
    if (given.stream().allMatch(SettableProperties::isOthers)) {
      return;
    }
    KnownSettings known = known(root);
    for (String property : given) {
      if (!isOthers(property) && !known.has(property)) {
        throw Options.usage(
            "--set names no setting: '" + property + "'" + nearest(property, known.names()));
      }
    }
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
    ToIntFunction<String> distance = name -> distance(wrong, name);
    int least = names.stream().mapToInt(distance).min().orElse(Integer.MAX_VALUE);
    if (least > MOST_WRONG) {
      return "; docs/settings.md has them all";
    }
    return names.stream()
        .filter(name -> distance(wrong, name) == least)
        .limit(MOST_NAMED)
        .collect(Collectors.joining(" or ", "; did you mean ", "?"));
  }

  /// Letters to be added, left out or changed to make one word of the other
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
