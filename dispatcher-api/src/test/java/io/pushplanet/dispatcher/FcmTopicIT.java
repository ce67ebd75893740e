package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatObject;

import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class FcmTopicIT {
  private static final String CONTENT =
      "\"content\":{\"title\":\"Goal\"},\"delivery\":{\"priority\":\"normal\"}";

  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  private static String to(String audience) {
    return "{\"audience\":" + audience + "," + CONTENT + "}";
  }

  @Test
  void a_message_to_a_topic_has_one_recipient_which_is_the_topic() {
    dispatcher.drain("push.fcm.normal");
    dispatcher.drain("push.accepted");

    Answer answer = shop.post("/messages", to("{\"fcm_topic\":\"news\"}"));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    assertThat(answer.json().at("/recipients/estimate").intValue()).isEqualTo(1);
    List<JsonNode> pushes = dispatcher.drain("push.fcm.normal");
    assertThat(pushes).hasSize(1);
    assertThatObject(pushes.getFirst())
        .returns("fcm-topic:news", it -> it.at("/recipients/0/device").asString())
        .returns("news", it -> it.at("/recipients/0/fcm/token").asString())
        .returns("topic", it -> it.at("/recipients/0/fcm/kind").asString())
        .returns("vendor", it -> it.at("/delivery/route").asString());
    assertThat(dispatcher.drain("push.accepted"))
        .singleElement()
        .returns("fcm-topic:news", event -> event.at("/recipients/0").asString());
    String id = answer.json().get("id").stringValue();
    assertThat(shop.get("/messages/" + id).json().at("/audience/fcm_topic").asString())
        .isEqualTo("news");
    assertThat(shop.get("/messages/" + id + "/deliveries").json().at("/data/0/device").asString())
        .isEqualTo("fcm-topic:news");
  }

  @Test
  void a_condition_is_told_as_it_was_written() {
    String condition = "'a' in topics && !('b' in topics)";

    Answer answer = shop.post("/messages", to("{\"fcm_condition\":\"" + condition + "\"}"));

    assertThat(answer.status()).as(answer.toString()).isEqualTo(202);
    String id = answer.json().get("id").stringValue();
    assertThat(shop.get("/messages/" + id).json().at("/audience/fcm_condition").asString())
        .isEqualTo(condition);
  }

  @Test
  void a_batch_and_a_validation_take_topics_too() {
    String two = to("{\"fcm_topic\":\"a\"}") + "," + to("{\"fcm_topic\":\"/topics/b\"}");

    Answer batch = shop.post("/messages:batch", "{\"messages\":[" + two + "]}");
    Answer validation = shop.post("/messages:validate", to("{\"fcm_topic\":\"a\"}"));

    assertThat(batch.json().at("/results/0/id").isString()).as(batch.toString()).isTrue();
    assertThat(batch.json().at("/results/1/problem/errors/0/code").asString())
        .as(batch.toString())
        .isEqualTo("not_an_fcm_topic");
    assertThat(validation.json().at("/recipients/estimate").intValue()).isEqualTo(1);
  }

  @Test
  void no_device_can_be_registered_in_a_topics_place() {
    Answer put =
        shop.call("PUT", "/devices/fcm-topic:news", "{\"platform\":\"android\",\"channels\":{}}");
    Answer post =
        shop.post(
            "/devices",
            "{\"device\":\"fcm-condition:x\",\"platform\":\"android\",\"channels\":{}}");

    for (Answer answer : List.of(put, post)) {
      assertThat(answer.status()).as(answer.toString()).isEqualTo(422);
      assertThat(answer.json().at("/errors/0/code").asString()).isEqualTo("not_a_device_id");
    }
  }
}
