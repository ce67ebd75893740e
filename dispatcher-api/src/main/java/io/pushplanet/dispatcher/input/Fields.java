package io.pushplanet.dispatcher.input;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The fields of one JSON object, read strictly. A getter returns null when the field is absent or
/// wrong; each fault is added to the findings. `done` reports the fields that were never read.
/// JSON's null counts as absent.
public final class Fields {
  private static final Pattern WEEKS = Pattern.compile("P(\\d{1,4})W");

  private final ObjectNode node;
  private final String pointer;
  private final Findings findings;
  private final Set<String> known = new HashSet<>();
  private final Set<String> refused = new HashSet<>();

  public Fields(ObjectNode node, String pointer, Findings findings) {
    this.node = node;
    this.pointer = pointer;
    this.findings = findings;
  }

  public Findings findings() {
    return findings;
  }

  /// The JSON pointer of this object.
  public String at() {
    return pointer;
  }

  public String at(String name) {
    return pointer + "/" + name.replace("~", "~0").replace("/", "~1");
  }

  /// Whether the field is there, even if it is null.
  public boolean mentions(String name) {
    known.add(name);
    return node.has(name);
  }

  public boolean has(String name) {
    return value(name) != null;
  }

  public void wrong(String name, String code, String detail) {
    findings.add(at(name), code, detail);
  }

  /// Reports fields that do not exist, but deserve a more helpful text than the usual one.
  public void refuse(List<String> names, String code, String detail) {
    for (String name : names) {
      if (node.has(name)) {
        refused.add(name);
        wrong(name, code, detail);
      }
    }
  }

  public @Nullable JsonNode value(String name) {
    known.add(name);
    JsonNode value = node.get(name);
    return value == null || value.isNull() ? null : value;
  }

  /// A text of 1 to `most` characters.
  public @Nullable String text(String name, int most) {
    JsonNode value = value(name);
    if (value == null) {
      return null;
    }
    return isText(value, most) ? value.stringValue() : textOf(value, at(name), most);
  }

  public @Nullable String requiredText(String name, int most) {
    require(name);
    return text(name, most);
  }

  private void require(String name) {
    if (!has(name)) {
      wrong(name, "required", name + " is required");
    }
  }

  /// A text that is used as a key. It must not end in a blank: the database ignores a trailing
  /// blank, and would find the key without it.
  public @Nullable String key(String name, int most) {
    String text = text(name, most);
    return text == null || isKey(at(name), text) ? text : null;
  }

  public @Nullable String requiredKey(String name, int most) {
    require(name);
    return key(name, most);
  }

  private boolean isKey(String where, String text) {
    if (endsInBlank(text)) {
      findings.add(where, "ends_in_blank", "this must not end in a blank");
      return false;
    }
    return true;
  }

  public static boolean endsInBlank(String text) {
    return text.endsWith(" ");
  }

  public @Nullable Boolean flag(String name) {
    JsonNode value = value(name);
    if (value != null && !value.isBoolean()) {
      wrong(name, "not_a_boolean", name + " is true or false");
      return null;
    }
    return value == null ? null : value.booleanValue();
  }

  public @Nullable ObjectNode object(String name) {
    JsonNode value = value(name);
    if (value == null) {
      return null;
    }
    if (value instanceof ObjectNode object) {
      return object;
    }
    wrong(name, "not_an_object", name + " is a JSON object");
    return null;
  }

  /// An object that is passed on as it is, because only its reader knows its fields.
  public @Nullable ObjectNode tree(String name) {
    ObjectNode tree = object(name);
    if (tree != null && !isUnicode(tree)) {
      wrong(name, "not_unicode", "a text contains half of a surrogate pair");
    }
    if (tree != null && !isFinite(tree)) {
      wrong(name, "out_of_range", "a number is larger than any that a double holds");
    }
    return tree;
  }

  public @Nullable Fields fields(String name) {
    ObjectNode object = object(name);
    return object == null ? null : new Fields(object, at(name), findings);
  }

  /// A list of objects.
  public @Nullable List<Fields> list(String name) {
    JsonNode value = value(name);
    if (value == null || !value.isArray()) {
      wrong(name, "not_a_list", name + " is a list of JSON objects");
      return null;
    }
    List<Fields> list = new ArrayList<>(value.size());
    for (int i = 0; i < value.size(); i++) {
      String where = at(name) + "/" + i;
      if (!(value.get(i) instanceof ObjectNode object)) {
        findings.add(where, "not_an_object", "this must be a JSON object");
        return null;
      }
      list.add(new Fields(object, where, findings));
    }
    return list;
  }

  /// An ISO 8601 duration from zero to `longest`.
  public @Nullable Duration duration(String name, Duration longest) {
    JsonNode value = value(name);
    if (value != null && !value.isString()) {
      wrong(
          name,
          "not_a_string",
          name + " is a string with an ISO 8601 duration, such as \"PT6H\" or \"P1D\"");
      return null;
    }
    String text = text(name, 64);
    if (text == null) {
      return null;
    }
    try {
      Duration duration = parsed(text);
      if (duration.isNegative()) {
        wrong(name, "negative", name + " must not be negative");
        return null;
      }
      if (duration.compareTo(longest) > 0) {
        wrong(name, "too_long", name + " is at most " + words(longest));
        return null;
      }
      return duration;
    } catch (DateTimeParseException e) {
      wrong(
          name,
          "not_a_duration",
          name + " is an ISO 8601 duration such as PT6H, P1D or P2W, without years and months");
      return null;
    }
  }

  /// Weeks stand alone in ISO 8601, and Java does not read them.
  private static Duration parsed(String text) {
    Matcher weeks = WEEKS.matcher(text);
    return weeks.matches()
        ? Duration.ofDays(7L * Integer.parseInt(weeks.group(1)))
        : Duration.parse(text);
  }

  /// One of the enum's names in lower case.
  public <E extends Enum<E>> @Nullable E word(String name, Class<E> type) {
    String text = text(name, 64);
    if (text == null) {
      return null;
    }
    for (E constant : type.getEnumConstants()) {
      if (constant.name().toLowerCase(Locale.ROOT).equals(text)) {
        return constant;
      }
    }
    String choices =
        Arrays.stream(type.getEnumConstants())
            .map(constant -> constant.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    wrong(name, "unknown_value", name + " is one of " + choices);
    return null;
  }

  /// A list of at most `most` texts of 1 to `longest` characters, without repeats, in the given
  /// order.
  public @Nullable List<String> texts(String name, int most, int longest) {
    return texts(name, most, longest, (_, _) -> true);
  }

  /// As above, for texts that are used as keys.
  public @Nullable List<String> keys(String name, int most, int longest) {
    return texts(name, most, longest, this::isKey);
  }

  /// As above, for texts with further rules.
  ///
  /// @param right gets the pointer to a text and the text; adds a finding when the text is wrong
  public @Nullable List<String> texts(
      String name, int most, int longest, BiPredicate<String, String> right) {
    JsonNode value = value(name);
    if (value == null) {
      return null;
    }
    if (!value.isArray()) {
      wrong(name, "not_a_list", name + " is a list of texts");
      return null;
    }
    if (value.size() > most) {
      wrong(
          name,
          "too_many",
          String.format(Locale.ROOT, "%s has %,d entries; at most %,d", name, value.size(), most));
      return null;
    }
    List<String> texts = new ArrayList<>(value.size());
    for (int i = 0; i < value.size(); i++) {
      String where = at(name) + "/" + i;
      String text = textOf(value.get(i), where, longest);
      if (text != null && right.test(where, text)) {
        texts.add(text);
      }
    }
    return texts.stream().distinct().toList();
  }

  /// Reports every field that was never read.
  public void done() {
    for (String name : node.propertyNames()) {
      if (!known.contains(name) && !refused.contains(name)) {
        String choices = known.stream().sorted().collect(Collectors.joining(", "));
        findings.add(
            at(name),
            "unknown_field",
            "there is no field \"" + name + "\" here; known: " + choices);
      }
    }
  }

  public ObjectNode node() {
    return node;
  }

  /// A quick check, which most texts pass. Only when it fails, the pointer of the text is built to
  /// report the fault.
  private static boolean isText(JsonNode value, int most) {
    return value.isString()
        && !value.stringValue().isEmpty()
        && value.stringValue().length() <= most
        && isUnicode(value.stringValue());
  }

  public @Nullable String textOf(JsonNode value, String where, int most) {
    if (!value.isString()) {
      findings.add(where, "not_a_string", "this must be a string");
      return null;
    }
    String text = value.stringValue();
    if (text.isEmpty()) {
      findings.add(where, "empty", "this must not be empty");
      return null;
    }
    int length = length(text);
    if (length > most) {
      findings.add(where, "too_long", "this has " + length + " characters; at most " + most);
      return null;
    }
    if (!isUnicode(text)) {
      findings.add(where, "not_unicode", "this contains half of a surrogate pair");
      return null;
    }
    return text;
  }

  /// In characters as the database, JSON Schema and people count them: an emoji is one character.
  public static int length(String text) {
    return text.codePointCount(0, text.length());
  }

  /// JSON escapes can contain half of a surrogate pair, which has no UTF-8 form and would come back
  /// as another character.
  public static boolean isUnicode(String text) {
    return text.equals(new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8));
  }

  /// Whether all texts in a tree, and the names of its fields, are valid Unicode.
  private static boolean isUnicode(JsonNode tree) {
    for (Map.Entry<String, JsonNode> entry : tree.properties()) {
      if (!isUnicode(entry.getKey())) {
        return false;
      }
    }
    return tree.isString()
        ? isUnicode(tree.stringValue())
        : tree.valueStream().allMatch(Fields::isUnicode);
  }

  /// JSON can contain numbers such as 1e400, which would be passed on as the text "Infinity".
  private static boolean isFinite(JsonNode tree) {
    return tree.isFloatingPointNumber()
        ? Double.isFinite(tree.doubleValue(Double.NaN))
        : tree.valueStream().allMatch(Fields::isFinite);
  }

  private static String words(Duration duration) {
    return duration.toDays() > 0 ? "P" + duration.toDays() + "D" : duration.toString();
  }
}
