package io.pushplanet.common.wire;

import io.pushplanet.common.message.Json;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonParser;
import tools.jackson.core.json.UTF8StreamJsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/// Takes a [Json] object out of the bytes it stands in, where they are at hand; else writes anew what it reads.
final class JsonReader extends StdDeserializer<Json> {
  /// The attribute under which a read tells its bytes.
  static final String BYTES = "bytes";

  JsonReader() {
    super(Json.class);
  }

  @Override
  public Json deserialize(JsonParser parser, DeserializationContext context) {
    // Jackson puts what it must look at twice into a buffer, whose parser knows no places.
    if (parser instanceof UTF8StreamJsonParser
        && parser.isExpectedStartObjectToken()
        && context.getAttribute(BYTES) instanceof byte[] bytes) {
      int from = (int) parser.currentTokenLocation().getByteOffset();
      parser.skipChildren();
      int to = (int) parser.currentLocation().getByteOffset();
      return new Json(new String(bytes, from, to - from, StandardCharsets.UTF_8));
    }
    return new Json(WireForm.mapper().writeValueAsString(context.readTree(parser)));
  }
}
