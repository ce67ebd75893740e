package io.pushplanet.simulators.fcm;

import io.pushplanet.simulators.fcm.FcmRules.Violation;
import io.pushplanet.simulators.server.Reaction;
import java.util.List;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Google's form of errors (https://cloud.google.com/apis/design/errors#error_model).
final class FcmErrors {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final String FCM_ERROR = "type.googleapis.com/google.firebase.fcm.v1.FcmError";

  private FcmErrors() {}

  /// @param status the canonical one (google.rpc.Code)
  /// @param errorCode FCM's own; may be empty
  static Reaction.Answer answer(
      int code, String status, String errorCode, List<Violation> violations) {
    String text =
        violations.isEmpty() ? "Request failed: " + status : violations.getFirst().description();
    ObjectNode error =
        JSON.createObjectNode().put("code", code).put("message", text).put("status", status);
    if (!errorCode.isEmpty() || !violations.isEmpty()) {
      ArrayNode details = error.putArray("details");
      if (!errorCode.isEmpty()) {
        details.addObject().put("@type", FCM_ERROR).put("errorCode", errorCode);
      }
      if (!violations.isEmpty()) {
        ArrayNode fields =
            details
                .addObject()
                .put("@type", "type.googleapis.com/google.rpc.BadRequest")
                .putArray("fieldViolations");
        violations.forEach(
            v -> fields.addObject().put("field", v.field()).put("description", v.description()));
      }
    }
    return answer(code, error);
  }

  /// With the exhausted scope (https://cloud.google.com/apis/design/errors#error_details).
  static Reaction.Answer overQuota(Quotas.Exceeded exceeded) {
    ObjectNode error =
        JSON.createObjectNode()
            .put("code", 429)
            .put("message", "Quota exceeded for " + exceeded.subject())
            .put("status", "RESOURCE_EXHAUSTED");
    ArrayNode details = error.putArray("details");
    details.addObject().put("@type", FCM_ERROR).put("errorCode", "QUOTA_EXCEEDED");
    details
        .addObject()
        .put("@type", "type.googleapis.com/google.rpc.QuotaFailure")
        .putArray("violations")
        .addObject()
        .put("subject", exceeded.subject())
        .put("description", exceeded.description());
    return answer(429, error).retryAfter(exceeded.retryAfter());
  }

  private static Reaction.Answer answer(int code, ObjectNode error) {
    return Reaction.Answer.json(code, JSON.createObjectNode().set("error", error).toPrettyString());
  }

  /// The canonical status Google sends with an HTTP code (google.rpc.Code).
  static String status(int code) {
    return switch (code) {
      case 400 -> "INVALID_ARGUMENT";
      case 401 -> "UNAUTHENTICATED";
      case 403 -> "PERMISSION_DENIED";
      case 404 -> "NOT_FOUND";
      case 429 -> "RESOURCE_EXHAUSTED";
      case 500 -> "INTERNAL";
      case 503 -> "UNAVAILABLE";
      default -> "UNKNOWN";
    };
  }
}
