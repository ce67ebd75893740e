package io.pushplanet.common.wire;

import io.pushplanet.common.message.Json;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonParser;
import tools.jackson.core.json.UTF8StreamJsonParser;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.deser.std.StdDeserializer;

/// Cuts a [Json] object out of the input bytes where these are available; otherwise writes anew
/// what it parsed.
final class JsonReader extends StdDeserializer<Json> {
  /// The attribute that carries the input bytes.
  static final String BYTES = "bytes";

  JsonReader() {
    super(Json.class);
  }

  @Override
  public Json deserialize(JsonParser parser, DeserializationContext context) {
    // Jackson buffers a value that it must read twice; the buffer's parser has no offsets into the
    // input.
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
