package io.pushplanet.gateway.provider;

import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// Lays a caller's overrides over the JSON that we made of the content.
public final class JsonMerge {
  private JsonMerge() {}

  /// Objects are merged field by field; any other value is replaced.
  public static void into(ObjectNode base, ObjectNode over) {
    for (Map.Entry<String, JsonNode> field : over.properties()) {
      if (base.get(field.getKey()) instanceof ObjectNode inner
          && field.getValue() instanceof ObjectNode innerOver) {
        into(inner, innerOver);
      } else {
        base.set(field.getKey(), field.getValue().deepCopy());
      }
    }
  }
}
