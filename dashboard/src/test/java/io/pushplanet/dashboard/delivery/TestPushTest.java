package io.pushplanet.dashboard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.wire.WireForm;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class TestPushTest {
  private static final String ID = "01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf";

  @Test
  void an_objection_is_told_once() {
    assertThat(
            DispatcherApi.objection(
                404,
                json(
                    """
                    {"detail": "There is no device \\"nope\\" in this app.",
                     "errors": [{"pointer": "/audience", "detail": "There is no device \\"nope\\" in this app."}]}
                    """)))
        .isEqualTo("The dispatcher refused (404): There is no device \"nope\" in this app.");
    assertThat(
            DispatcherApi.objection(
                422,
                json(
                    """
                    {"detail": "/content/title: is too long",
                     "errors": [{"pointer": "/content/title", "detail": "is too long"},
                                {"pointer": "/content/body", "detail": "is too long"}]}
                    """)))
        .isEqualTo(
            "The dispatcher refused (422): /content/title: is too long. /content/body: is too long.");
  }

  @Test
  void a_problem_without_details_is_told_by_its_title() {
    assertThat(DispatcherApi.objection(413, json("{\"title\": \"Too large\"}")))
        .isEqualTo("The dispatcher refused (413): Too large.");
    assertThat(DispatcherApi.objection(502, json("{}")))
        .isEqualTo("The dispatcher refused (502): no reason given.");
  }

  @Test
  void recipients_are_told_where_they_were_counted() {
    assertThat(accepted("{\"estimate\": 0}").recipients()).hasValue(0);
    assertThat(accepted("{\"estimate\": 7}").recipients()).hasValue(7);
    assertThat(accepted("{\"estimate\": 0, \"counted\": false}").recipients()).isEmpty();
    assertThat(accepted("{}").recipients()).isEmpty();
  }

  private static TestPush.Result.Accepted accepted(String recipients) {
    return TestPush.accepted(json("{\"id\": \"" + ID + "\", \"recipients\": " + recipients + "}"));
  }

  private static JsonNode json(String text) {
    return WireForm.mapper().readTree(text);
  }
}
