package io.pushplanet.common.wire;

import io.pushplanet.common.message.Json;
import java.nio.charset.StandardCharsets;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.io.SerializedString;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ser.std.StdSerializer;

final class JsonWriter extends StdSerializer<Json> {
  JsonWriter() {
    super(Json.class);
  }

  /// Encoded by the JDK in one go: Jackson encodes letter by letter, which takes as long as writing
  /// the value first did.
  private static final class Encoded extends SerializedString {
    private static final long serialVersionUID = 1;

    Encoded(Json json) {
      super(json.text());
      _unquotedUTF8Ref = json.text().getBytes(StandardCharsets.UTF_8);
    }
  }

  @Override
  public void serialize(Json json, JsonGenerator generator, SerializationContext context) {
    generator.writeRawValue(new Encoded(json));
  }
}
