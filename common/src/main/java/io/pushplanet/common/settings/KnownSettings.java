package io.pushplanet.common.settings;

import io.pushplanet.common.wire.WireForm;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import tools.jackson.databind.JsonNode;

/// The settings of the programs, as Spring Boot's configuration processor wrote them beside their
/// classes (https://docs.spring.io/spring-boot/specification/configuration-metadata/format.html).
/// Confined to one thread.
public final class KnownSettings {
  /// Their file in each module's classes.
  public static final String METADATA = "META-INF/spring-configuration-metadata.json";

  private static final String BEHIND_A_COLLECTION = ".[_";

  private final SortedSet<String> names = new TreeSet<>();

  /// Their types by [#bare] name.
  private final Map<String, String> types = new TreeMap<>();

  /// @param metadata the text of one [#METADATA]; that of another library is ignored
  public void add(String metadata) {
    if (!metadata.contains("\"io.pushplanet.")) {
      return;
    }
    for (JsonNode property : WireForm.mapper().readTree(metadata).path("properties")) {
      String name = property.path("name").asString();
      names.add(name);
      types.put(bare(name), property.path("type").asString());
    }
  }

  /// Of all settings, as properties: `gateway.fcm.endpoint`.
  public SortedSet<String> names() {
    return new TreeSet<>(names);
  }

  /// @param name a property or a variable, in any spelling that Spring Boot accepts
  public boolean has(String name) {
    return types.containsKey(bare(name))
        || IntStream.range(1, name.length())
            .filter(end -> BEHIND_A_COLLECTION.indexOf(name.charAt(end)) >= 0)
            .anyMatch(end -> takesMoreBehind(bare(name.substring(0, end))));
  }

  private boolean takesMoreBehind(String bare) {
    return types.getOrDefault(bare, "").matches("java\\.util\\.(List|Set|Map)<.*");
  }

  /// @param name as in [#has]
  /// @return its Java type, such as `java.time.Duration`; empty for an unknown one
  public Optional<String> type(String name) {
    return Optional.ofNullable(types.get(bare(name)));
  }

  /// One key for a property and for all spellings of its variable.
  private static String bare(String name) {
    return name.replaceAll("[._-]", "").toUpperCase(Locale.ROOT);
  }
}
