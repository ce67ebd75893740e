package io.pushplanet.dispatcher;

import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/// The OpenAPI document. Every answer in every integration test is checked against it, and so is
/// the body of every request that is accepted.
final class ApiDescription {
  private static final JsonNode DOCUMENT = read();
  private static final List<Operation> OPERATIONS = operations(DOCUMENT);

  private ApiDescription() {}

  record Operation(String method, String path, Pattern form, JsonNode node) {
    boolean isFor(String method, String path) {
      return this.method.equals(method) && form.matcher(path).matches();
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  static List<Operation> operations() {
    return OPERATIONS;
  }

  /// @throws AssertionError when the document describes the operation, but not this status, or
  ///     another body for it
  static void check(String method, String path, HttpResponse<String> answer) {
    operation(method, path)
        .ifPresent(operation ->
            requireNone(
                faults(operation, answer),
                operation + " answered " + answer.statusCode() + ": " + answer.body()));
  }

  /// @param body of a request that was accepted
  /// @throws AssertionError when the document describes another body
  static void checkAccepted(String method, String path, String body) {
    JsonNode given = WireForm.mapper().readTree(body);
    if (!method.equals("PATCH")) {
      dropNulls(given);
    }
    operation(method, path)
        .ifPresent(operation ->
            requireNone(
                new JsonSchema(DOCUMENT)
                    .faults(
                        operation.node().at("/requestBody/content/application~1json/schema"),
                        given),
                operation + " accepted " + body));
  }

  /// A field that is null counts as absent, except in a merge patch.
  private static void dropNulls(JsonNode node) {
    if (node instanceof ObjectNode object) {
      object.properties().removeIf(property -> property.getValue().isNull());
    }
    node.forEach(ApiDescription::dropNulls);
  }

  private static Optional<Operation> operation(String method, String path) {
    String bare = path.replaceFirst("\\?.*", "");
    return OPERATIONS.stream().filter(operation -> operation.isFor(method, bare)).findFirst();
  }

  private static void requireNone(List<String> faults, String real) {
    if (!faults.isEmpty()) {
      throw new AssertionError(
          "openapi.json says otherwise (" + String.join("; ", faults) + "): " + real);
    }
  }

  private static List<String> faults(Operation operation, HttpResponse<String> answer) {
    JsonNode told = operation.node().get("responses").get(Integer.toString(answer.statusCode()));
    if (told == null) {
      return List.of("it lacks the status");
    }
    JsonSchema schemas = new JsonSchema(DOCUMENT);
    JsonNode content = schemas.resolved(told).path("content");
    String type = answer.headers().firstValue("Content-Type").orElse("");
    if (content.isEmpty() || !content.has(type)) {
      return content.isEmpty() && answer.body().isEmpty()
          ? List.of()
          : List.of("it lacks the content type \"" + type + "\"");
    }
    return schemas.faults(
        content.get(type).get("schema"), WireForm.mapper().readTree(answer.body()));
  }

  private static JsonNode read() {
    try (InputStream file = ApiDescription.class.getResourceAsStream("/docs/openapi.json")) {
      if (file == null) {
        throw new IllegalStateException("openapi.json is missing");
      }
      return WireForm.mapper().readTree(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<Operation> operations(JsonNode document) {
    List<Operation> operations = new ArrayList<>();
    document
        .get("paths")
        .properties()
        .forEach(path -> {
          String form = path.getKey().replace(".", "\\.").replaceAll("\\{\\w+}", "[^/]+?");
          path.getValue()
              .properties()
              .forEach(method ->
                  operations.add(
                      new Operation(
                          method.getKey().toUpperCase(Locale.ROOT),
                          path.getKey(),
                          Pattern.compile(form),
                          method.getValue())));
        });
    return List.copyOf(operations);
  }
}
