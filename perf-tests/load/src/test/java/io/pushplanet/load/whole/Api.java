package io.pushplanet.load.whole;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// A bare client like `curl`: sends the given bytes and returns status and body.
final class Api implements AutoCloseable {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final HttpClient client = HttpClient.newHttpClient();
  private final String base;
  private final String bearer;

  record Answer(int status, JsonNode body) {
    String text(String field) {
      return body.path(field).asString("");
    }
  }

  Api(String base, String bearer) {
    this.base = base;
    this.bearer = bearer;
  }

  Answer call(String method, String path, String body) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(Duration.ofSeconds(60))
            .header("Authorization", "Bearer " + bearer)
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body))
            .build();
    var answer = client.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    boolean lines =
        answer.headers().firstValue("Content-Type").orElse("").startsWith("application/x-ndjson");
    String json = lines ? "[" + answer.body().strip().replace("\n", ",") + "]" : answer.body();
    return new Answer(
        answer.statusCode(), json.isBlank() ? JSON.createObjectNode() : JSON.readTree(json));
  }

  @Override
  public void close() {
    client.close();
  }
}
