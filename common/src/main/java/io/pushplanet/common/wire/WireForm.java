package io.pushplanet.common.wire;

import static java.util.Objects.requireNonNullElse;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.Json;
import io.pushplanet.common.message.Push;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.cfg.DateTimeFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;

/// The form of all data between our processes: JSON in UTF-8, snake_case, no nulls, times as RFC
/// 3339. A reader skips an unknown field, so that processes of two versions work side by side. An
/// unknown word of an enum (an event, a channel, a node's result) makes its item malformed: every
/// process must know a new word before any process writes it.
///
/// A batch is a JSON array of items that were encoded one by one: the accepting threads encode, the
/// lane only joins.
public final class WireForm {
  private static final JsonMapper MAPPER =
      JsonMapper.builder(JsonFactory.builder().addDecorator(LongTexts::of).build())
          .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
          .changeDefaultPropertyInclusion(
              value -> value.withValueInclusion(JsonInclude.Include.NON_NULL))
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .disable(DateTimeFeature.WRITE_DATES_AS_TIMESTAMPS)
          .disable(DateTimeFeature.WRITE_DURATIONS_AS_TIMESTAMPS)
          .addModule(
              new SimpleModule("wire")
                  .setValueInstantiators(new RecordMaker.OfAllRecords())
                  .addDeserializer(Instant.class, new InstantReader())
                  .addDeserializer(Duration.class, new DurationReader())
                  .addDeserializer(Json.class, new JsonReader())
                  .addSerializer(Json.class, new JsonWriter())
                  .addSerializer(Content.class, new ContentWriter()))
          .build();

  private WireForm() {}

  /// The mapper itself, for JSON trees.
  public static JsonMapper mapper() {
    return MAPPER;
  }

  public static byte[] write(Object item) {
    return MAPPER.writeValueAsBytes(item);
  }

  /// The same as a [Json] value, to be embedded in other items.
  public static Json json(Object item) {
    return new Json(new String(write(item), StandardCharsets.UTF_8));
  }

  /// @param content the push's content, already written: it is long, and goes into both the lane
  ///     and the acceptance event
  public static byte[] write(Push push, Json content) {
    return MAPPER.writer().withAttribute(ContentWriter.WRITTEN, content).writeValueAsBytes(push);
  }

  /// @throws MalformedWire when the bytes are not this type's form
  public static <T> T read(byte[] bytes, Class<T> type) {
    try {
      T item = MAPPER.readValue(bytes, type);
      if (item == null) {
        throw new IllegalArgumentException("it is null");
      }
      return item;
    } catch (JacksonException | IllegalArgumentException e) {
      throw new MalformedWire(type.getSimpleName(), e);
    }
  }

  /// The items of a batch, in order.
  ///
  /// @throws MalformedWire when the bytes are not a JSON array of this type's form
  public static <T> List<T> readBatch(byte[] bytes, Class<T> type) {
    try {
      List<T> items =
          MAPPER.readerForListOf(type).withAttribute(JsonReader.BYTES, bytes).readValue(bytes);
      if (items == null || items.contains(null)) {
        throw new IllegalArgumentException("it, or an item, is null");
      }
      return items;
    } catch (JacksonException | IllegalArgumentException e) {
      throw new MalformedWire("batch of " + type.getSimpleName(), e);
    }
  }

  /// The readable items of a batch, in order.
  ///
  /// @param unreadable receives the others
  /// @throws MalformedWire when the bytes are not a JSON array
  public static <T> List<T> readBatch(byte[] bytes, Class<T> type, Consumer<DeadItem> unreadable) {
    try {
      return readBatch(bytes, type);
    } catch (MalformedWire oneOfThem) {
      List<T> items = new ArrayList<>();
      for (byte[] alone : singly(bytes)) {
        try {
          items.addAll(readBatch(alone, type));
        } catch (MalformedWire e) {
          unreadable.accept(new DeadItem(alone, requireNonNullElse(e.getMessage(), "malformed")));
        }
      }
      return items;
    }
  }

  /// The items of a batch, each byte for byte as a batch of its own.
  ///
  /// @throws MalformedWire when the bytes are not a JSON array
  public static List<byte[]> singly(byte[] bytes) {
    List<byte[]> batches = new ArrayList<>();
    try (JsonParser parser = MAPPER.createParser(bytes)) {
      if (parser.nextToken() != JsonToken.START_ARRAY) {
        throw new IllegalArgumentException("no array");
      }
      while (parser.nextToken() != JsonToken.END_ARRAY) {
        int from = (int) parser.currentTokenLocation().getByteOffset();
        parser.skipChildren();
        parser.finishToken();
        int to = (int) parser.currentLocation().getByteOffset();
        if (from < 0) {
          throw new IllegalArgumentException("not UTF-8");
        }
        batches.add(join(List.of(Arrays.copyOfRange(bytes, from, to))));
      }
      if (parser.nextToken() != null) {
        throw new IllegalArgumentException("more than an array");
      }
      return batches;
    } catch (JacksonException | IllegalArgumentException e) {
      throw new MalformedWire("batch", e);
    }
  }

  /// Joins encoded items into a batch.
  public static byte[] join(List<byte[]> items) {
    int length = 1 + items.size();
    for (byte[] item : items) {
      length += item.length;
    }
    ByteArrayOutputStream batch = new ByteArrayOutputStream(length);
    byte separator = '[';
    for (byte[] item : items) {
      batch.write(separator);
      batch.writeBytes(item);
      separator = ',';
    }
    if (items.isEmpty()) {
      batch.write('[');
    }
    batch.write(']');
    return batch.toByteArray();
  }
}
