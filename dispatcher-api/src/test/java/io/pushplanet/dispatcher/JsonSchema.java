package io.pushplanet.dispatcher;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;
import tools.jackson.databind.JsonNode;

/// Compares values with schemas of an OpenAPI document, as far as the schemas say which properties
/// there are, of which type and form, and how long. It is stricter than JSON Schema: an object has
/// no properties that its schema does not declare, unless the schema declares none at all.
///
/// @param document where references lead
record JsonSchema(JsonNode document) {
  /// The node itself, or the node to which its `$ref` leads.
  JsonNode resolved(JsonNode node) {
    return node.has("$ref") ? document.at(node.get("$ref").stringValue().substring(1)) : node;
  }

  /// What is wrong with the value, with the pointers to it. Empty for a value of this schema.
  List<String> faults(JsonNode schema, JsonNode value) {
    List<String> faults = new ArrayList<>();
    compare(resolved(schema), value, "", faults);
    return faults;
  }

  private void compare(JsonNode schema, JsonNode value, String pointer, List<String> faults) {
    if (schema.has("anyOf")) {
      if (elements(schema.get("anyOf")).stream().noneMatch(one -> faults(one, value).isEmpty())) {
        faults.add(pointer + " is none of anyOf");
      }
      return;
    }
    if (schema.has("const") && !schema.get("const").equals(value)) {
      faults.add(pointer + " is not " + schema.get("const"));
    }
    if (schema.has("enum") && !elements(schema.get("enum")).contains(value)) {
      faults.add(pointer + " is none of " + schema.get("enum"));
    }
    if (schema.has("type") && !isOfType(schema.get("type"), value)) {
      faults.add(pointer + " is not of type " + schema.get("type"));
      return;
    }
    if (schema.path("format").asString("").equals("date-time")
        && value.isString()
        && !isTime(value.stringValue())) {
      faults.add(pointer + " is not a time in UTC");
    }
    if (value.isString()) {
      compareText(schema, value.stringValue(), pointer, faults);
    }
    if (value.isArray() && isNoLength(schema, "Items", value.size())) {
      faults.add(pointer + " has " + value.size() + " items");
    }
    if (value.isArray() && schema.has("items")) {
      int index = 0;
      for (JsonNode element : value) {
        compare(resolved(schema.get("items")), element, pointer + "/" + index, faults);
        index++;
      }
    }
    if (value.isObject()) {
      compareObject(schema, value, pointer, faults);
    }
  }

  private static void compareText(
      JsonNode schema, String text, String pointer, List<String> faults) {
    String pattern = schema.path("pattern").asString("");
    if (!Pattern.compile(pattern).matcher(text).find()) {
      faults.add(pointer + " does not match " + pattern);
    }
    int length = text.codePointCount(0, text.length());
    if (isNoLength(schema, "Length", length)) {
      faults.add(pointer + " has " + length + " characters");
    }
  }

  /// @param what `Items` or `Length`, behind `min` and `max`
  private static boolean isNoLength(JsonNode schema, String what, int length) {
    return length < schema.path("min" + what).asInt(0)
        || length > schema.path("max" + what).asInt(Integer.MAX_VALUE);
  }

  private void compareObject(JsonNode schema, JsonNode value, String pointer, List<String> faults) {
    for (JsonNode name : schema.path("required")) {
      if (!value.has(name.stringValue())) {
        faults.add(pointer + "/" + name.stringValue() + " is missing");
      }
    }
    JsonNode declared = schema.path("properties");
    JsonNode more = schema.path("additionalProperties");
    value
        .properties()
        .forEach(property -> {
          String at = pointer + "/" + property.getKey();
          if (declared.has(property.getKey())) {
            compare(resolved(declared.get(property.getKey())), property.getValue(), at, faults);
          } else if (more.isObject()) {
            compare(resolved(more), property.getValue(), at, faults);
          } else if (!declared.isEmpty()) {
            faults.add(at + " is not declared");
          }
        });
  }

  /// @param types one type, or an array of several
  private static boolean isOfType(JsonNode types, JsonNode value) {
    List<JsonNode> names = types.isArray() ? elements(types) : List.of(types);
    return names.stream()
        .anyMatch(name ->
            switch (name.stringValue()) {
              case "string" -> value.isString();
              case "integer" -> value.isIntegralNumber();
              case "number" -> value.isNumber();
              case "boolean" -> value.isBoolean();
              case "null" -> value.isNull();
              case "array" -> value.isArray();
              case "object" -> value.isObject();
              default -> throw new IllegalArgumentException(name.stringValue());
            });
  }

  private static boolean isTime(String text) {
    try {
      Instant.parse(text);
      return text.endsWith("Z");
    } catch (DateTimeParseException e) {
      return false;
    }
  }

  private static List<JsonNode> elements(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).toList();
  }
}
