package io.pushplanet.quickstart.platform;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.MissingNode;

/// JSON over HTTP, for our own API and the simulators' management. Thread-safe.
public final class Rest implements AutoCloseable {
  private static final Duration REQUEST_DEADLINE = Duration.ofSeconds(60);
  private static final JsonMapper JSON = JsonMapper.shared();

  private final HttpClient client =
      HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(15)).build();
  private final String base;
  private final String bearer;

  /// @param bearer the API key, or an empty text
  public Rest(String base, String bearer) {
    this.base = base;
    this.bearer = bearer;
  }

  /// An answer outside 2xx.
  public static final class Refused extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Refused(String message) {
      super(message);
    }
  }

  public JsonNode get(String path) {
    return send("GET", path, HttpRequest.BodyPublishers.noBody());
  }

  public JsonNode put(String path, JsonNode body) {
    return send("PUT", path, HttpRequest.BodyPublishers.ofString(body.toString()));
  }

  public JsonNode post(String path, JsonNode body) {
    return send("POST", path, HttpRequest.BodyPublishers.ofString(body.toString()));
  }

  /// The status of a GET, for readiness.
  public int statusOf(String path) throws IOException {
    return statusOf(path, REQUEST_DEADLINE);
  }

  /// The status of a GET that is answered within `atMost`.
  int statusOf(String path, Duration atMost) throws IOException {
    try {
      return client
          .send(request(path).timeout(atMost).GET().build(), HttpResponse.BodyHandlers.discarding())
          .statusCode();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  /// The body of a GET with any status, such as the reasons why a process is not ready.
  ///
  /// @return missing for a body that is not JSON
  public JsonNode bodyOf(String path) throws IOException {
    try {
      return JSON.readTree(
          client.send(request(path).GET().build(), HttpResponse.BodyHandlers.ofString()).body());
    } catch (JacksonException e) {
      return MissingNode.getInstance();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  private JsonNode send(String method, String path, HttpRequest.BodyPublisher body) {
    try {
      HttpResponse<String> response =
          client.send(
              request(path).header("Content-Type", "application/json").method(method, body).build(),
              HttpResponse.BodyHandlers.ofString());
      if (response.statusCode() / 100 != 2) {
        throw new Refused(
            method
                + " "
                + base
                + path
                + " answered "
                + response.statusCode()
                + ": "
                + reason(response.body()));
      }
      return response.body().isEmpty() ? JSON.createObjectNode() : JSON.readTree(response.body());
    } catch (IOException e) {
      throw new Refused(method + " " + base + path + " failed: " + e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Refused(method + " " + base + path + " was interrupted");
    }
  }

  /// The text for people in a problem document (RFC 9457), else the body as it is.
  private static String reason(String body) {
    try {
      String detail = JSON.readTree(body).path("detail").asString("");
      return detail.isEmpty() ? body : detail;
    } catch (JacksonException e) {
      return body;
    }
  }

  private HttpRequest.Builder request(String path) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(base + path)).timeout(REQUEST_DEADLINE);
    return bearer.isEmpty() ? request : request.header("Authorization", "Bearer " + bearer);
  }

  @Override
  public void close() {
    client.close();
  }
}
