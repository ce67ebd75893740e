package io.pushplanet.gateway.hms;

import io.pushplanet.gateway.connection.Reply;
import java.util.HashSet;
import java.util.Set;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What an answer says: `{"code","msg","requestId"}`.
///
/// @param code Push Kit's own, "" when there is none
/// @param explanation `msg`, for people; "" when it is for programs
/// @param illegal the tokens that get nothing, when only some are illegal
record HmsAnswer(String code, String requestId, String explanation, Set<String> illegal) {
  static final HmsAnswer SILENT = new HmsAnswer("", "", "", Set.of());
  private static final JsonMapper JSON = JsonMapper.shared();

  HmsAnswer {
    illegal = Set.copyOf(illegal);
  }

  static HmsAnswer of(Reply reply) {
    return reply instanceof Reply.Answered answered ? parse(answered.body()) : SILENT;
  }

  /// Reads a body. An empty or HTML body says nothing.
  static HmsAnswer parse(byte[] body) {
    if (body.length == 0) {
      return SILENT;
    }
    try {
      JsonNode answer = JSON.readTree(body);
      String code = answer.path("code").asString("");
      String message = answer.path("msg").asString("");
      boolean partial = code.equals(HmsAnswers.PARTIAL);
      return new HmsAnswer(
          code,
          answer.path("requestId").asString(""),
          partial ? "" : message,
          partial ? illegal(message) : Set.of());
    } catch (JacksonException e) {
      return SILENT;
    }
  }

  /// JSON in a text: `{"success":3,"failure":1,"illegal_tokens":["…"]}`.
  private static Set<String> illegal(String message) {
    Set<String> tokens = new HashSet<>();
    try {
      JSON.readTree(message)
          .path("illegal_tokens")
          .forEach(token -> tokens.add(token.asString("")));
    } catch (JacksonException e) {
      // The message names no token.
    }
    return tokens;
  }
}
