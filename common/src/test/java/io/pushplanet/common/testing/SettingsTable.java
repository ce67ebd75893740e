package io.pushplanet.common.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.wire.WireForm;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotBlank;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Positive;
import jakarta.validation.constraints.PositiveOrZero;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.hibernate.validator.constraints.time.DurationMin;
import tools.jackson.databind.JsonNode;

/// The settings of one module as a Markdown table: names, defaults and meanings as Spring Boot's
/// configuration processor wrote them beside the classes (a meaning is a record's `@param`), limits
/// from the records.
public final class SettingsTable {
  private static final Pattern DASHED = Pattern.compile("-([a-z])");
  private static final Map<String, String> TYPES =
      Map.of(
          "Integer", "number",
          "Long", "number",
          "Boolean", "`true` or `false`",
          "String", "text",
          "Secret", "secret",
          "URI", "URI",
          "Path", "file",
          "Duration", "duration",
          "DataSize", "size");

  private SettingsTable() {}

  /// @param module a folder of the repository whose classes are compiled
  /// @throws AssertionError when a setting has no meaning
  public static String of(String module) {
    Map<String, String> rows = new TreeMap<>();
    for (JsonNode property : properties(module)) {
      rows.put(property.get("name").stringValue(), row(property));
    }
    return "| setting | type | default | meaning |\n|---|---|---|---|\n"
        + String.join("\n", rows.values());
  }

  /// The names of the settings of one module.
  public static Set<String> names(String module) {
    Set<String> names = new TreeSet<>();
    properties(module).forEach(property -> names.add(property.get("name").stringValue()));
    return names;
  }

  /// The names of the durations among the settings of one module.
  public static Set<String> durations(String module) {
    Set<String> names = new TreeSet<>();
    for (JsonNode property : properties(module)) {
      if (property.get("type").stringValue().equals(Duration.class.getName())) {
        names.add(property.get("name").stringValue());
      }
    }
    return names;
  }

  private static JsonNode properties(String module) {
    Path metadata =
        ReferencePage.repository()
            .resolve(module)
            .resolve("target/classes/META-INF/spring-configuration-metadata.json");
    assertThat(metadata).as("made by spring-boot-configuration-processor").isRegularFile();
    return read(metadata).get("properties");
  }

  private static String row(JsonNode property) {
    String name = property.get("name").stringValue();
    String meaning = property.path("description").asString("").strip();
    assertThat(meaning).as("%s has no @param that says what it means", name).isNotEmpty();
    AnnotatedElement declared = declaration(property, name);
    return "| `%s` | %s | %s | %s |"
        .formatted(
            name,
            type(property.get("type").stringValue()) + limits(declared),
            preset(property, declared),
            meaning.replaceAll("\\s+", " ").replace("|", "\\|"));
  }

  private static String type(String name) {
    if (isList(name)) {
      return "list";
    }
    Object[] words = name.startsWith("java.") ? null : load(name).getEnumConstants();
    if (words != null) {
      return Arrays.stream(words)
          .map(word -> "`" + word.toString().toLowerCase(Locale.ROOT) + "`")
          .collect(Collectors.joining(", "));
    }
    return TYPES.getOrDefault(name.substring(name.lastIndexOf('.') + 1), name);
  }

  private static boolean isList(String type) {
    return type.startsWith("java.util.Set<") || type.startsWith("java.util.List<");
  }

  private static String limits(AnnotatedElement declared) {
    Min least = declared.getAnnotation(Min.class);
    Max most = declared.getAnnotation(Max.class);
    DurationMin shortest = declared.getAnnotation(DurationMin.class);
    if (shortest != null) {
      return ", from " + text(shortest);
    }
    String from =
        declared.isAnnotationPresent(Positive.class)
            ? "1"
            : declared.isAnnotationPresent(PositiveOrZero.class)
                ? "0"
                : least == null ? "" : Long.toString(least.value());
    if (from.isEmpty() && most == null) {
      return "";
    }
    return most == null ? ", from " + from : ", " + from + " to " + most.value();
  }

  private static String text(DurationMin shortest) {
    return shortest.millis() > 0 ? shortest.millis() + "ms" : shortest.seconds() + "s";
  }

  private static String preset(JsonNode property, AnnotatedElement declared) {
    JsonNode preset = property.get("defaultValue");
    if (preset == null && isList(property.get("type").stringValue())) {
      return "empty";
    }
    if (preset != null) {
      String text = preset.isString() ? preset.stringValue() : preset.toString();
      return text.isEmpty() ? "empty" : "`" + text + "`";
    }
    boolean required =
        declared.isAnnotationPresent(NotNull.class) || declared.isAnnotationPresent(NotBlank.class);
    return required ? "**required**" : "none";
  }

  /// From the annotations of the record's component: a constraint lands on the component's accessor
  /// too.
  private static AnnotatedElement declaration(JsonNode property, String name) {
    if (!property.has("sourceType")) {
      return SettingsTable.class;
    }
    String component =
        DASHED
            .matcher(name.substring(name.lastIndexOf('.') + 1))
            .replaceAll(letter -> letter.group(1).toUpperCase(Locale.ROOT));
    Class<?> source = load(property.get("sourceType").stringValue());
    return Arrays.stream(source.getRecordComponents())
        .filter(candidate -> candidate.getName().equals(component))
        .findFirst()
        .map(RecordComponent::getAccessor)
        .orElseThrow(() -> new AssertionError(source + " has no component " + component));
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, SettingsTable.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static JsonNode read(Path file) {
    try {
      return WireForm.mapper().readTree(Files.readString(file));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
