package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

class FcmTopicReaderTest {
  private static SendRequest read(String audience, String more) {
    String body = "{\"audience\":%s,\"content\":{\"body\":\"x\"}%s}";
    return SendRequestReader.read(
        (ObjectNode) WireForm.mapper().readTree(body.formatted(audience, more)));
  }

  @Test
  void a_topic_goes_to_google_and_takes_along_what_google_takes() {
    SendRequest request =
        read(
            "{\"fcm_topic\":\"news\"}",
            ",\"overrides\":{\"fcm\":{\"android\":{}},\"apns\":{\"sound\":\"x\"},\"hms\":{},\"webpush\":{}}");

    assertThat(request.audience()).isEqualTo(new Audience.FcmTopic("news"));
    assertThat(request.delivery().route()).isEqualTo(Route.VENDOR);
    assertThat(request.overrides().fcm()).isNotNull();
    assertThat(request.overrides().apns()).isNull();
    assertThat(request.overrides().hms()).isNull();
    assertThat(request.overrides().webpush()).isNull();
  }

  @Test
  void a_condition_stays_as_it_is_written() {
    String condition = "'a' in topics && !('b' in topics)";

    assertThat(read("{\"fcm_condition\":\"" + condition + "\"}", "").audience())
        .isEqualTo(new Audience.FcmCondition(condition));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "{'fcm_topic':'/topics/news'} | {} | /audience/fcm_topic | not_an_fcm_topic",
        "{'fcm_topic':'two words'} | {} | /audience/fcm_topic | not_an_fcm_topic",
        "{'fcm_topic':['news']} | {} | /audience/fcm_topic | not_a_string",
        "{'fcm_condition':'news'} | {} | /audience/fcm_condition | not_an_fcm_condition",
        "{'not':{'fcm_topic':'news'}} | {} | /audience/not/fcm_topic | stands_alone",
        "{'and':[{'all':true},{'fcm_condition':'^a^ in topics'}]} | {} | /audience/and/1/fcm_condition | stands_alone",
        "{'fcm_topic':'news','topic':'news'} | {} | /audience | ambiguous",
        "{'fcm_topic':'news'} | {'route':'mqtt'} | /delivery/route | not_over_mqtt",
        "{'device':'fcm-topic:news'} | {} | /audience/device | not_a_device_id"
      })
  void every_fault_is_reported(String audience, String delivery, String pointer, String code) {
    refused(audience, delivery, pointer, code);
  }

  @Test
  void the_lengths_of_google_are_told() {
    refused("{'fcm_topic':'" + "n".repeat(901) + "'}", "{}", "/audience/fcm_topic", "too_long");
    refused(
        "{'fcm_condition':'" + "^a^ in topics || ".repeat(5) + "^a^ in topics'}",
        "{}",
        "/audience/fcm_condition",
        "too_many");
  }

  private static void refused(String audience, String delivery, String pointer, String code) {
    String json = audience.replace('\'', '"').replace('^', '\'');

    assertThatThrownBy(() -> read(json, ",\"delivery\":" + delivery.replace('\'', '"')))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .singleElement()
                    .returns(pointer, FieldError::pointer)
                    .returns(code, FieldError::code));
  }

  @Test
  void a_live_activity_is_for_no_topic() {
    assertThatThrownBy(() ->
            read(
                "{\"fcm_topic\":\"news\"}",
                ",\"live_activity\":{\"event\":\"update\",\"token\":\"abababab\",\"content_state\":{}}"))
        .hasMessageContaining("the audience is that device, or a channel");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"fcm_topic\":\"n\"}", "{\"fcm_condition\":\"'n' in topics\"}"})
  void topics_take_half_of_what_a_device_takes(String audience) {
    String body = "{\"audience\":%s,\"content\":{\"data\":{\"x\":\"%s\"}}}";
    int around = "{'data':{'x':'','id':'00000000-0000-7000-8000-000000000000'}}".length();

    SendRequestReader.read(
        (ObjectNode)
            WireForm.mapper().readTree(body.formatted(audience, "x".repeat(2_048 - around))));

    assertThatThrownBy(() ->
            SendRequestReader.read(
                (ObjectNode)
                    WireForm.mapper()
                        .readTree(body.formatted(audience, "x".repeat(2_049 - around)))))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ProblemCode.PAYLOAD_TOO_LARGE);
              assertThat(problem.errors())
                  .singleElement()
                  .returns("too_large_for_fcm", FieldError::code);
            });
  }
}
