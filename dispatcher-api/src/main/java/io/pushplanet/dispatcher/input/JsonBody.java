package io.pushplanet.dispatcher.input;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A request's body: one JSON object without repeated names. [Bodies] reads it.
public record JsonBody(byte[] bytes, ObjectNode root) {
  private static final JsonMapper STRICT =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(32).build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  /// @throws ProblemException 400
  public static JsonBody of(byte[] bytes) {
    return new JsonBody(bytes, parse(bytes));
  }

  /// `{}`
  static JsonBody empty() {
    return new JsonBody(new byte[0], STRICT.createObjectNode());
  }

  static ObjectNode parse(byte[] bytes) {
    JsonNode root;
    try {
      root = STRICT.readTree(bytes);
    } catch (JacksonException e) {
      TokenStreamLocation at = e.getLocation();
      throw ProblemException.of(
          ProblemCode.MALFORMED_JSON,
          "The body is not JSON"
              + (at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr())
              + ": "
              + e.getOriginalMessage());
    }
    if (root instanceof ObjectNode object) {
      return object;
    }
    throw ProblemException.of(ProblemCode.MALFORMED_JSON, "The body must be a JSON object.");
  }
}
