package io.pushplanet.dispatcher.input;

import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.TokenStreamLocation;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// The body of a request: one JSON object without repeated names. [Bodies] reads it.
public record JsonBody(byte[] bytes, ObjectNode root) {
  private static final int LONGEST_PIECE = 1024;
  private static final int DEEPEST = 32;

  private static final String BOUNDS =
      String.format(
          Locale.ROOT,
          "it nests at most %d deep, names have at most %,d characters, numbers %,d",
          DEEPEST,
          StreamReadConstraints.DEFAULT_MAX_NAME_LEN,
          StreamReadConstraints.DEFAULT_MAX_NUM_LEN);

  /// Hints for Java programmers that Jackson adds at the end of its messages.
  private static final Pattern HINT =
      Pattern.compile("(?: \\(start marker|: enable |: maybe a \\(non-standard).*", Pattern.DOTALL);

  private static final JsonMapper STRICT =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder().maxNestingDepth(DEEPEST).build())
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
    requireUtf8(bytes);
    JsonNode root;
    try {
      root = STRICT.readTree(bytes);
    } catch (StreamConstraintsException e) {
      throw malformed("The body goes too far" + place(e) + ": " + BOUNDS + ".");
    } catch (MismatchedInputException e) {
      // Jackson reads the first value only; the rest of the body has not been parsed.
      throw malformed("The body is not JSON" + place(e) + ": more follows its end.");
    } catch (JacksonException e) {
      String reason = HINT.matcher(e.getOriginalMessage()).replaceFirst("");
      throw malformed("The body is not JSON" + place(e) + ": " + reason);
    }
    if (root instanceof ObjectNode object) {
      return object;
    }
    throw malformed(
        root.isMissingNode()
            ? "The body is empty."
            : "The body is a JSON "
                + root.getNodeType().name().toLowerCase(Locale.ROOT)
                + ", and must be an object.");
  }

  private static String place(JacksonException e) {
    TokenStreamLocation at = e.getLocation();
    return at == null ? "" : " at line " + at.getLineNr() + ", column " + at.getColumnNr();
  }

  private static ProblemException malformed(String detail) {
    return ProblemException.of(ProblemCode.MALFORMED_JSON, detail);
  }

  /// Jackson would accept UTF-16 and UTF-32 as well, and overlong forms of a character, which
  /// filters in front of this server do not recognise.
  private static void requireUtf8(byte[] bytes) {
    if (bytes.length > 1 && (bytes[0] == 0 || bytes[1] == 0)) {
      throw notUtf8(0);
    }
    if (isAscii(bytes)) {
      return;
    }
    CharsetDecoder strict = StandardCharsets.UTF_8.newDecoder();
    ByteBuffer encoded = ByteBuffer.wrap(bytes);
    CharBuffer piece = CharBuffer.allocate(Math.min(bytes.length, LONGEST_PIECE));
    CoderResult result;
    do {
      piece.clear();
      result = strict.decode(encoded, piece, true);
    } while (result.isOverflow());
    if (result.isError()) {
      throw notUtf8(encoded.position());
    }
  }

  /// The loop has no early exit, because it is fastest that way and most bodies are ASCII.
  private static boolean isAscii(byte[] bytes) {
    int all = 0;
    for (byte one : bytes) {
      all |= one;
    }
    return all >= 0;
  }

  private static ProblemException notUtf8(int offset) {
    return malformed("The body is not UTF-8 from byte " + offset + " on.");
  }
}
