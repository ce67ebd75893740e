package io.pushplanet.dispatcher.input;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.Locale;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// A request's body: at most [#MOST_BYTES] (or the limit given), one JSON object without repeated names.
///
/// Reading stops at the limit, so that a huge upload is neither stored nor parsed.
public record JsonBody(byte[] bytes, ObjectNode root) {
  public static final int MOST_BYTES = 64 * 1024;
  public static final int MOST_BATCH_BYTES = 1024 * 1024;

  private static final JsonMapper STRICT =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(32).build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .build();

  public static JsonBody read(HttpServletRequest request) throws IOException {
    return read(request, MOST_BYTES);
  }

  /// @throws ProblemException 413, 415 or 400
  public static JsonBody read(HttpServletRequest request, int mostBytes) throws IOException {
    return of(readBytes(request, mostBytes));
  }

  /// The body's bytes as they came, for [#of].
  ///
  /// @throws ProblemException 413 or 415
  public static byte[] readBytes(HttpServletRequest request, int mostBytes) throws IOException {
    refuseIfLarge(request, mostBytes);
    requireJson(request);
    return bytes(request, mostBytes);
  }

  /// @throws ProblemException 400
  public static JsonBody of(byte[] bytes) {
    return new JsonBody(bytes, parse(bytes));
  }

  /// As [#read], but nothing at all counts as `{}`.
  public static JsonBody readOptional(HttpServletRequest request) throws IOException {
    refuseIfLarge(request, MOST_BYTES);
    byte[] bytes = bytes(request, MOST_BYTES);
    if (bytes.length == 0) {
      return new JsonBody(bytes, STRICT.createObjectNode());
    }
    requireJson(request);
    return new JsonBody(bytes, parse(bytes));
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

  private static byte[] bytes(HttpServletRequest request, int mostBytes) throws IOException {
    // The stream ends with the body; asking for no more than that spares a buffer of 16 KiB.
    int length = request.getContentLength();
    int most = length < 0 ? mostBytes + 1 : Math.min(length, mostBytes + 1);
    byte[] bytes = request.getInputStream().readNBytes(most);
    if (bytes.length > mostBytes) {
      throw tooLarge(mostBytes);
    }
    return bytes;
  }

  private static void refuseIfLarge(HttpServletRequest request, int mostBytes) {
    if (request.getContentLengthLong() > mostBytes) {
      throw tooLarge(mostBytes);
    }
  }

  private static ProblemException tooLarge(int mostBytes) {
    return ProblemException.of(
        ProblemCode.BODY_TOO_LARGE,
        String.format(Locale.ROOT, "The body may have at most %,d bytes.", mostBytes));
  }

  private static void requireJson(HttpServletRequest request) {
    String type = request.getContentType();
    String bare = type == null ? "" : type.split(";", 2)[0].strip().toLowerCase(Locale.ROOT);
    if (!bare.equals("application/json") && !bare.equals("application/merge-patch+json")) {
      throw ProblemException.of(
          ProblemCode.UNSUPPORTED_MEDIA_TYPE,
          "Send Content-Type: application/json"
              + (type == null ? "; there is none." : ", not " + bare + "."));
    }
  }
}
