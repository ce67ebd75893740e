package io.pushplanet.common.testing;

import java.util.Collections;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// A meter as Prometheus shows it.
///
/// @param name in Prometheus' form, of a timer or summary without `_count`, `_sum`, `_max` and
///     `_bucket`
/// @param type counter, gauge, summary, timer or cache
/// @param tags the values that the code spells out, by tag; empty where they are computed
/// @param description empty where the code has none
record Meter(
    String name, String type, SortedMap<String, SortedSet<String>> tags, String description) {
  Meter {
    tags = Collections.unmodifiableSortedMap(tags);
  }

  /// The same meter, registered in another place.
  Meter and(Meter other) {
    SortedMap<String, SortedSet<String>> both = new TreeMap<>(tags);
    other.tags.forEach((tag, values) -> both.merge(tag, values, Meter::union));
    return new Meter(name, type, both, description.isEmpty() ? other.description : description);
  }

  String tagsInWords() {
    return tags.entrySet().stream().map(Meter::inWords).collect(Collectors.joining(", "));
  }

  private static String inWords(Map.Entry<String, SortedSet<String>> tag) {
    String name = "`" + tag.getKey() + "`";
    return tag.getValue().isEmpty() ? name : name + " (" + String.join(", ", tag.getValue()) + ")";
  }

  private static SortedSet<String> union(SortedSet<String> one, SortedSet<String> other) {
    SortedSet<String> all = new TreeSet<>(one);
    all.addAll(other);
    return all;
  }
}
