package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.wire.WireForm;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class JsonSchemaTest {
  private static final JsonNode DOCUMENT =
      json(
          """
          {"one": {"type": "object", "required": ["id"], "properties": {
             "id": {"type": "integer"},
             "at": {"type": ["string", "null"], "format": "date-time"},
             "state": {"enum": ["ready", "failed"]},
             "valid": {"const": true},
             "user": {"anyOf": [{"type": "string"}, {"type": "null"}]},
             "data": {"type": "object", "additionalProperties": {"type": "string"}},
             "free": {"type": "object"},
             "more": {"type": "array", "items": {"$ref": "#/one"}}}}}
          """);

  private static JsonNode json(String text) {
    return WireForm.mapper().readTree(text);
  }

  private static List<String> faults(String value) {
    return new JsonSchema(DOCUMENT).faults(json("{\"$ref\": \"#/one\"}"), json(value));
  }

  @Test
  void a_value_of_the_schema_has_no_faults() {
    assertThat(
            faults(
                """
                {"id": 1, "at": "2026-01-01T00:00:00.5Z", "state": "ready", "valid": true,
                 "user": null, "data": {"any": "a"}, "free": {"any": 1},
                 "more": [{"id": 2, "at": null}]}
                """))
        .isEmpty();
  }

  @Test
  void each_fault_is_named_by_its_pointer() {
    assertThat(faults("{\"id\": 1, \"new\": 1}")).containsExactly("/new is not declared");
    assertThat(faults("{\"more\": [{}], \"id\": 1}")).containsExactly("/more/0/id is missing");
    assertThat(faults("{\"id\": \"1\"}")).containsExactly("/id is not of type \"integer\"");
    assertThat(faults("{\"id\": 1, \"at\": \"today\"}"))
        .containsExactly("/at is not a time in UTC");
    assertThat(faults("{\"id\": 1, \"state\": \"lost\"}"))
        .containsExactly("/state is none of [\"ready\",\"failed\"]");
    assertThat(faults("{\"id\": 1, \"valid\": false}")).containsExactly("/valid is not true");
    assertThat(faults("{\"id\": 1, \"user\": 1}")).containsExactly("/user is none of anyOf");
    assertThat(faults("{\"id\": 1, \"data\": {\"a\": 1}}"))
        .containsExactly("/data/a is not of type \"string\"");
  }
}
