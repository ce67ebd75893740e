package io.pushplanet.dispatcher;

import io.pushplanet.common.wire.WireForm;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;

/// The OpenAPI document. Every answer in every integration test is checked against it.
final class ApiDescription {
  private static final List<Operation> OPERATIONS = read();

  private ApiDescription() {}

  record Operation(String method, String path, Pattern form, JsonNode node) {}

  static List<Operation> operations() {
    return OPERATIONS;
  }

  static void requireToldStatus(String method, String path, int status) {
    String bare = path.replaceFirst("\\?.*", "");
    for (Operation operation : OPERATIONS) {
      if (operation.method().equals(method)
          && operation.form().matcher(bare).matches()
          && !operation.node().get("responses").has(Integer.toString(status))) {
        throw new AssertionError(
            method + " " + operation.path() + " answered " + status + ": openapi.json lacks it");
      }
    }
  }

  private static List<Operation> read() {
    try (InputStream file = ApiDescription.class.getResourceAsStream("/docs/openapi.json")) {
      if (file == null) {
        throw new IllegalStateException("openapi.json is missing");
      }
      List<Operation> operations = new ArrayList<>();
      JsonNode paths = WireForm.mapper().readTree(file).get("paths");
      paths
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
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }
}
