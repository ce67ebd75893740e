package io.pushplanet.dispatcher;

import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// The OpenAPI document. Every answer in every integration test is checked against it.
final class ApiDescription {
  private static final JsonNode DOCUMENT = read();
  private static final List<Operation> OPERATIONS = operations(DOCUMENT);

  private ApiDescription() {}

  record Operation(String method, String path, Pattern form, JsonNode node) {
    boolean isFor(String method, String path) {
      return this.method.equals(method) && form.matcher(path).matches();
    }
  }

  static List<Operation> operations() {
    return OPERATIONS;
  }

  /// @throws AssertionError when the document describes the operation, but not this status, or
  ///     another body for it
  static void check(String method, String path, HttpResponse<String> answer) {
    String bare = path.replaceFirst("\\?.*", "");
    for (Operation operation : OPERATIONS) {
      if (operation.isFor(method, bare)) {
        List<String> faults = faults(operation, answer);
        if (!faults.isEmpty()) {
          throw new AssertionError(
              method
                  + " "
                  + operation.path()
                  + " answered "
                  + answer.statusCode()
                  + " otherwise than openapi.json says: "
                  + String.join("; ", faults)
                  + ": "
                  + answer.body());
        }
      }
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
    return schemas.faults(content.get(type).get("schema"), WireForm.mapper().readTree(answer.body()));
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
