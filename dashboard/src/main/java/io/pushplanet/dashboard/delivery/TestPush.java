package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.TransactionException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Sends a push like the backend of an app.
@Service
class TestPush {
  private static final Logger LOG = LoggerFactory.getLogger(TestPush.class);

  private final DispatcherApi api;
  private final AuditLog audit;

  TestPush(DispatcherApi api, AuditLog audit) {
    this.api = api;
    this.audit = audit;
  }

  /// @param audienceKind `device`, `user`, `topic`
  /// @param route `auto`, `mqtt`, `vendor`
  record Draft(
      String audienceKind, String audience, String title, String body, String data, String route) {}

  sealed interface Result {
    /// @param recipients a recent count of the dispatcher; empty when it had none
    record Accepted(MessageId message, OptionalInt recipients) implements Result {}

    /// The dispatcher refused the message, or the draft has a fault.
    record Refused(String why) implements Result {}

    /// Nothing was sent.
    record DispatcherAway(URI address) implements Result {}

    /// The dispatcher did not answer in time, and may have accepted the message.
    record Unanswered(URI address) implements Result {}
  }

  /// @param form of which at most one push is sent
  Result send(String by, AppId app, UUID form, Draft draft) {
    byte[] body;
    try {
      body = WireForm.write(request(draft));
    } catch (JacksonException e) {
      return new Result.Refused(
          "Data is a JSON object with text values, such as {\"order\":\"77\"}.");
    }
    String to = draft.audienceKind() + " " + draft.audience();
    // Recorded first, so that no push is sent without an entry.
    audit.record(by, AuditAction.TEST_PUSH, app.value(), to + ": asked");
    Result result = result(api.postOnce(app, "/messages", form, body));
    try {
      audit.record(by, AuditAction.TEST_PUSH, app.value(), to + ": " + words(result));
    } catch (DataAccessException | TransactionException e) {
      // The operator must get the result of the push, and would otherwise send it again.
      LOG.warn("event=test_push_not_written_down app={} reason=\"{}\"", app, e.toString());
    }
    return result;
  }

  private static Map<String, Object> request(Draft draft) {
    Map<String, Object> content = new LinkedHashMap<>();
    if (!draft.title().isEmpty()) {
      content.put("title", draft.title());
    }
    if (!draft.body().isEmpty()) {
      content.put("body", draft.body());
    }
    if (!draft.data().isBlank()) {
      content.put("data", WireForm.mapper().readTree(draft.data()));
    }
    return Map.of(
        "audience", Map.of(draft.audienceKind(), draft.audience()),
        "content", content,
        "delivery", Map.of("route", draft.route()));
  }

  private static Result result(DispatcherApi.Answer answer) {
    return switch (answer) {
      case DispatcherApi.Answer.Given(int status, JsonNode body) when status == 202 ->
          accepted(body);
      case DispatcherApi.Answer.Given(int status, _) when status == 503 ->
          new Result.Refused(
              "The dispatcher cannot accept now (503). Is RabbitMQ running? Try again.");
      case DispatcherApi.Answer.Given refusal -> new Result.Refused(refusal.objection());
      case DispatcherApi.Answer.Away(URI address) -> new Result.DispatcherAway(address);
      case DispatcherApi.Answer.Unanswered(URI address) -> new Result.Unanswered(address);
    };
  }

  static Result.Accepted accepted(JsonNode receipt) {
    JsonNode recipients = receipt.path("recipients");
    boolean counted = recipients.has("estimate") && recipients.path("counted").asBoolean(true);
    return new Result.Accepted(
        new MessageId(receipt.path("id").asString("")),
        counted ? OptionalInt.of(recipients.path("estimate").asInt(0)) : OptionalInt.empty());
  }

  private static String words(Result result) {
    return switch (result) {
      case Result.Accepted(var message, _) -> "accepted as " + message;
      case Result.Refused(_) -> "refused";
      case Result.DispatcherAway(_) -> "dispatcher away";
      case Result.Unanswered(_) -> "no answer, perhaps accepted";
    };
  }
}
