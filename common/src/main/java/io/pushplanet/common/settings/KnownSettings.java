package io.pushplanet.common.settings;

import io.pushplanet.common.wire.WireForm;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/// The settings that programs have, as Spring Boot's configuration processor wrote them down beside their classes
/// (https://docs.spring.io/spring-boot/specification/configuration-metadata/format.html). Confined to one thread.
public final class KnownSettings {
  /// Where they stand in each module's classes.
  public static final String METADATA = "META-INF/spring-configuration-metadata.json";

  private static final String BEHIND_A_COLLECTION = ".[_";

  private final SortedSet<String> names = new TreeSet<>();

  /// By [#bare] name, whether it takes further names or numbers behind it.
  private final Map<String, Boolean> known = new TreeMap<>();

  /// @param metadata the text of one [#METADATA]; one that is not ours is left out
  public void add(String metadata) {
    if (!metadata.contains("\"io.pushplanet.")) {
      return;
    }
    for (JsonNode property : WireForm.mapper().readTree(metadata).path("properties")) {
      String name = property.path("name").asString();
      names.add(name);
      known.put(
          bare(name), property.path("type").asString().matches("java\\.util\\.(List|Set|Map)<.*"));
    }
  }

  /// As properties.
  public SortedSet<String> names() {
    return new TreeSet<>(names);
  }

  /// @param name a property or a variable, in any of the ways in which it may be written
  public boolean has(String name) {
    return known.containsKey(bare(name))
        || IntStream.range(1, name.length())
            .filter(end -> BEHIND_A_COLLECTION.indexOf(name.charAt(end)) >= 0)
            .anyMatch(end -> known.getOrDefault(bare(name.substring(0, end)), false));
  }

  /// The same for a property and for each way to write it as a variable.
  private static String bare(String name) {
    return name.replaceAll("[._-]", "").toUpperCase(Locale.ROOT);
  }
}
