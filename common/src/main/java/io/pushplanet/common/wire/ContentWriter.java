package io.pushplanet.common.wire;

import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.Json;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonGenerator;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.ser.std.StdSerializer;

/// Writes a message's content, or copies it where it was already written
/// ([WireForm#write(io.pushplanet.common.message.Push, Json)]).
final class ContentWriter extends StdSerializer<Content> {
  /// The attribute that carries the content as already written.
  static final String WRITTEN = "written";

  ContentWriter() {
    super(Content.class);
  }

  @Override
  public void serialize(Content content, JsonGenerator generator, SerializationContext context) {
    if (context.getAttribute(WRITTEN) instanceof Json written) {
      context.writeValue(generator, written);
      return;
    }
    generator.writeStartObject();
    put(generator, "title", content.title());
    put(generator, "body", content.body());
    generator.writeName("data");
    generator.writeStartObject();
    for (Map.Entry<String, String> entry : content.data().entrySet()) {
      generator.writeStringProperty(entry.getKey(), entry.getValue());
    }
    generator.writeEndObject();
    generator.writeEndObject();
  }

  private static void put(JsonGenerator generator, String name, @Nullable String text) {
    if (text != null) {
      generator.writeStringProperty(name, text);
    }
  }
}
