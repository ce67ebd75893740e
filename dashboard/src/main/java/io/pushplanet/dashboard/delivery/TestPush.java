package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.app.ApiKeys;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalInt;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Service;
import org.springframework.transaction.TransactionException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Sends a push like the backend of an app: through the API of the dispatcher, with a key that
/// lives as long as the request.
@Service
class TestPush {
  private static final Logger LOG = LoggerFactory.getLogger(TestPush.class);

  /// A dispatcher learns of a new key within a second, and under load later. An operator would
  /// rather wait than be refused.
  private static final Duration KEY_KNOWN_WITHIN = Duration.ofSeconds(10);

  private static final Duration PAUSE = Duration.ofMillis(150);

  private final ApiKeys keys;
  private final AuditLog audit;
  private final DashboardSettings settings;
  private final Clock clock;
  private final HttpClient http;

  TestPush(ApiKeys keys, AuditLog audit, DashboardSettings settings, Clock clock) {
    this.keys = keys;
    this.audit = audit;
    this.settings = settings;
    this.clock = clock;
    this.http = HttpClient.newBuilder().connectTimeout(settings.testPushTimeout()).build();
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

  Result send(String by, AppId app, Draft draft) {
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
    ApiKey key = keys.forTestPush(app);
    Result result;
    try {
      result = post(app, key, body);
    } catch (RuntimeException e) {
      keys.endTestPush(app, key);
      throw e;
    }
    try {
      audit.record(by, AuditAction.TEST_PUSH, app.value(), to + ": " + words(result));
      keys.endTestPush(app, key);
    } catch (DataAccessException | TransactionException e) {
      // The operator must get the result of the push, and would otherwise send it again. This key
      // ends with the next test push.
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

  private Result post(AppId app, ApiKey key, byte[] body) {
    HttpRequest request =
        HttpRequest.newBuilder(settings.dispatcherUrl().resolve("/v1/apps/" + app + "/messages"))
            .timeout(settings.testPushTimeout())
            .header("Authorization", "Bearer " + key.text().reveal())
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body))
            .build();
    try {
      HttpResponse<String> answer = sendOnceKnown(request);
      JsonNode json = json(answer.body());
      if (answer.statusCode() == 202) {
        return accepted(json);
      }
      if (answer.statusCode() == 503) {
        return new Result.Refused(
            "The dispatcher cannot accept now (503). Is RabbitMQ running? Try again.");
      }
      return new Result.Refused(objection(answer.statusCode(), json));
    } catch (ConnectException | HttpConnectTimeoutException e) {
      LOG.warn(
          "event=dispatcher_away address={} reason=\"{}\"", settings.dispatcherUrl(), e.toString());
      return new Result.DispatcherAway(settings.dispatcherUrl());
    } catch (IOException e) {
      LOG.warn(
          "event=test_push_unanswered address={} reason=\"{}\"",
          settings.dispatcherUrl(),
          e.toString());
      return new Result.Unanswered(settings.dispatcherUrl());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Result.Unanswered(settings.dispatcherUrl());
    }
  }

  private HttpResponse<String> sendOnceKnown(HttpRequest request)
      throws IOException, InterruptedException {
    Instant deadline = clock.instant().plus(KEY_KNOWN_WITHIN);
    while (true) {
      HttpResponse<String> answer =
          http.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
      if (answer.statusCode() != 401 || clock.instant().isAfter(deadline)) {
        return answer;
      }
      Thread.sleep(PAUSE);
    }
  }

  static Result.Accepted accepted(JsonNode receipt) {
    JsonNode recipients = receipt.path("recipients");
    boolean counted = recipients.has("estimate") && recipients.path("counted").asBoolean(true);
    return new Result.Accepted(
        new MessageId(receipt.path("id").asString("")),
        counted ? OptionalInt.of(recipients.path("estimate").asInt(0)) : OptionalInt.empty());
  }

  /// Each fault once: `detail` repeats the first of `errors`, with or without its place.
  static String objection(int status, JsonNode problem) {
    String detail =
        problem.path("detail").asString(problem.path("title").asString("no reason given"));
    StringBuilder words = new StringBuilder("The dispatcher refused (" + status + "): ");
    words.append(sentence(detail));
    JsonNode errors = problem.path("errors");
    for (int i = 0; i < errors.size(); i++) {
      String what = errors.path(i).path("detail").asString("");
      if (i > 0 || !detail.endsWith(what)) {
        String where = errors.path(i).path("pointer").asString("");
        words.append(' ').append(sentence(where + ": " + what));
      }
    }
    return words.toString();
  }

  private static String sentence(String text) {
    return text.endsWith(".") ? text : text + ".";
  }

  private static String words(Result result) {
    return switch (result) {
      case Result.Accepted(var message, _) -> "accepted as " + message;
      case Result.Refused(_) -> "refused";
      case Result.DispatcherAway(_) -> "dispatcher away";
      case Result.Unanswered(_) -> "no answer, perhaps accepted";
    };
  }

  private static JsonNode json(String body) {
    try {
      return WireForm.mapper().readTree(body);
    } catch (JacksonException e) {
      return WireForm.mapper().createObjectNode();
    }
  }
}
