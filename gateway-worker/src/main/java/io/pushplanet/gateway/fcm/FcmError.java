package io.pushplanet.gateway.fcm;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// What an answer's body says, in Google's error form
/// (https://cloud.google.com/apis/design/errors#error_model).
///
/// @param name of the message, when there is no error
/// @param code `details[].errorCode`, or else `status`, or else ""
/// @param namesToken whether a field violation names the token
/// @param quota whose quota is used up
/// @param explanation for people: the fields that are at fault, or else `message`, or else ""
record FcmError(String name, String code, boolean namesToken, Quota quota, String explanation) {
  private static final JsonMapper JSON = JsonMapper.shared();

  /// Google's QuotaFailure names the quota that is used up: "device message rate", "topic message
  /// rate", or else the project's
  /// (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode).
  private static final Pattern NARROW = Pattern.compile("device|topic", Pattern.CASE_INSENSITIVE);

  private static final FcmError SILENT = new FcmError("", "", false, Quota.UNSAID, "");

  enum Quota {
    UNSAID,
    /// Only a device's or a topic's.
    NARROW,
    PROJECT
  }

  static FcmError parse(byte[] body) {
    return parse(body, "");
  }

  /// Reads a body. An empty or HTML body says nothing.
  ///
  /// @param project its name may look like a quota's and is ignored
  static FcmError parse(byte[] body, String project) {
    if (body.length == 0) {
      return SILENT;
    }
    try {
      JsonNode answer = JSON.readTree(body);
      JsonNode error = answer.path("error");
      String code = error.path("status").asString("");
      boolean namesToken = false;
      Quota quota = Quota.UNSAID;
      List<String> faults = new ArrayList<>();
      for (JsonNode detail : error.path("details")) {
        code = detail.path("errorCode").asString(code);
        for (JsonNode violation : detail.path("fieldViolations")) {
          String field = violation.path("field").asString("");
          namesToken |= field.equals("message.token") || field.equals("message.fid");
          faults.add(field + ": " + violation.path("description").asString(""));
        }
        for (JsonNode violation : detail.path("violations")) {
          boolean narrow = NARROW.matcher(violation.toString().replace(project, "")).find();
          quota = narrow || quota == Quota.NARROW ? Quota.NARROW : Quota.PROJECT;
        }
      }
      return new FcmError(
          answer.path("name").asString(""),
          code,
          namesToken,
          quota,
          faults.isEmpty() ? error.path("message").asString("") : String.join("; ", faults));
    } catch (JacksonException e) {
      return SILENT;
    }
  }
}
