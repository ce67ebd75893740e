package io.pushplanet.dashboard.delivery;

import io.pushplanet.common.access.ApiKey;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.app.ApiKeys;
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
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.TransactionException;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/// Calls the API of the dispatcher like the backend of an app, with a key that lives as long as the
/// request. Thread-safe.
@Component
class DispatcherApi {
  private static final Logger LOG = LoggerFactory.getLogger(DispatcherApi.class);

  /// A dispatcher learns of a new key within a second, and under load later. An operator would
  /// rather wait than be refused.
  private static final Duration KEY_KNOWN_WITHIN = Duration.ofSeconds(10);

  private static final Duration PAUSE = Duration.ofMillis(150);

  private final ApiKeys keys;
  private final DashboardSettings settings;
  private final Clock clock;
  private final HttpClient http;

  DispatcherApi(ApiKeys keys, DashboardSettings settings, Clock clock) {
    this.keys = keys;
    this.settings = settings;
    this.clock = clock;
    this.http = HttpClient.newBuilder().connectTimeout(settings.testPushTimeout()).build();
  }

  sealed interface Answer {
    record Given(int status, JsonNode body) implements Answer {
      /// The words of a refusal, for the operator.
      String objection() {
        return DispatcherApi.objection(status, body);
      }
    }

    /// The dispatcher cannot be reached, so nothing was done.
    record Away(URI address) implements Answer {}

    /// The dispatcher did not answer in time, and may have done it.
    record Unanswered(URI address) implements Answer {}
  }

  /// @param path below the app: `/messages/{id}:cancel`
  Answer post(AppId app, String path, byte[] body) {
    return ask(app, request(app, path, body));
  }

  /// Like [#post], but has an effect only once, however often it is called with this key.
  Answer postOnce(AppId app, String path, UUID idempotencyKey, byte[] body) {
    return ask(app, request(app, path, body).header("Idempotency-Key", idempotencyKey.toString()));
  }

  private HttpRequest.Builder request(AppId app, String path, byte[] body) {
    return HttpRequest.newBuilder(settings.dispatcherUrl().resolve("/v1/apps/" + app + path))
        .timeout(settings.testPushTimeout())
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(body));
  }

  private Answer ask(AppId app, HttpRequest.Builder request) {
    ApiKey key = keys.forOneRequest(app);
    try {
      return ask(request.header("Authorization", "Bearer " + key.text().reveal()).build());
    } finally {
      end(app, key);
    }
  }

  private Answer ask(HttpRequest request) {
    try {
      HttpResponse<String> answer = sendOnceKnown(request);
      return new Answer.Given(answer.statusCode(), json(answer.body()));
    } catch (ConnectException | HttpConnectTimeoutException e) {
      LOG.warn(
          "event=dispatcher_away address={} reason=\"{}\"", settings.dispatcherUrl(), e.toString());
      return new Answer.Away(settings.dispatcherUrl());
    } catch (IOException e) {
      LOG.warn(
          "event=dispatcher_unanswered address={} reason=\"{}\"",
          settings.dispatcherUrl(),
          e.toString());
      return new Answer.Unanswered(settings.dispatcherUrl());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Answer.Unanswered(settings.dispatcherUrl());
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

  /// The operator must get the answer, and would otherwise repeat the request. A key that stays
  /// ends with a later request.
  private void end(AppId app, ApiKey key) {
    try {
      keys.endRequest(app, key);
    } catch (DataAccessException | TransactionException e) {
      LOG.warn("event=request_key_not_revoked app={} reason=\"{}\"", app, e.toString());
    }
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

  private static JsonNode json(String body) {
    try {
      return WireForm.mapper().readTree(body);
    } catch (JacksonException e) {
      return WireForm.mapper().createObjectNode();
    }
  }
}
