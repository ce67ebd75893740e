package io.pushplanet.gateway.fcm;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What an answer's body says, in Google's error form (https://cloud.google.com/apis/design/errors#error_model).
///
/// @param name of the message, when there is no error
/// @param code `details[].errorCode`, else `status`, else ""
/// @param namesToken whether a field violation names the token
record FcmError(String name, String code, boolean namesToken) {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final FcmError SILENT = new FcmError("", "", false);

  /// Bodies may be empty or HTML: then it says nothing.
  static FcmError parse(byte[] body) {
    if (body.length == 0) {
      return SILENT;
    }
    try {
      JsonNode answer = JSON.readTree(body);
      JsonNode error = answer.path("error");
      String code = error.path("status").asString("");
      boolean namesToken = false;
      for (JsonNode detail : error.path("details")) {
        code = detail.path("errorCode").asString(code);
        for (JsonNode violation : detail.path("fieldViolations")) {
          String field = violation.path("field").asString("");
          namesToken |= field.equals("message.token") || field.equals("message.fid");
        }
      }
      return new FcmError(answer.path("name").asString(""), code, namesToken);
    } catch (JacksonException e) {
      return SILENT;
    }
  }
}
