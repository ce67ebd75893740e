package io.pushplanet.dispatcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.target.ApnsPushType;
import io.pushplanet.dispatcher.RunningDispatcher.Answer;
import io.pushplanet.dispatcher.RunningDispatcher.Tenant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Tokens of other push types than `alert`.
class PushTypesIT {
  private final RunningDispatcher dispatcher = RunningDispatcher.shared();
  private final Tenant shop = dispatcher.tenant();

  @ParameterizedTest
  @EnumSource(ApnsPushType.class)
  void the_push_type_of_a_token_is_told_as_registered(ApnsPushType type) {
    String apns =
        "{\"apns\":{\"token\":\"%064x\",\"push_type\":\"%s\"}}"
            .formatted(type.ordinal() + 1, type.word());

    Answer registered =
        shop.put("/devices/" + type.word(), "{\"platform\":\"ios\",\"channels\":" + apns + "}");
    Answer patched = shop.call("PATCH", "/devices/" + type.word(), "{\"tags\":[\"vip\"]}");
    Answer read = shop.get("/devices/" + type.word());

    assertThat(registered.status()).as(registered.toString()).isEqualTo(201);
    assertThat(patched.status()).as(patched.toString()).isEqualTo(200);
    String told = type == ApnsPushType.ALERT ? "" : type.word();
    for (Answer answer : List.of(registered, patched, read)) {
      assertThat(answer.json().at("/channels/apns/push_type").asString("")).isEqualTo(told);
    }
  }

  @Test
  void a_new_token_by_patch_is_of_the_type_and_environment_of_the_one_before() {
    shop.put(
        "/devices/d1",
        "{\"platform\":\"ios\",\"channels\":{\"apns\":{\"token\":\"%064x\",\"environment\":\"sandbox\",\"push_type\":\"voip\"}}}"
            .formatted(1));

    Answer renewed =
        shop.call(
            "PATCH", "/devices/d1", "{\"channels\":{\"apns\":{\"token\":\"%064x\"}}}".formatted(2));
    Answer forAlerts =
        shop.call("PATCH", "/devices/d1", "{\"channels\":{\"apns\":{\"push_type\":null}}}");
    Answer removed = shop.call("PATCH", "/devices/d1", "{\"channels\":{\"apns\":null}}");

    assertThat(renewed.json().at("/channels/apns").toString())
        .isEqualTo(
            "{\"token\":\"%064x\",\"environment\":\"sandbox\",\"push_type\":\"voip\"}"
                .formatted(2));
    assertThat(forAlerts.json().at("/channels/apns").toString())
        .isEqualTo("{\"token\":\"%064x\",\"environment\":\"sandbox\"}".formatted(2));
    assertThat(removed.json().at("/channels/apns").isMissingNode()).isTrue();
  }
}
