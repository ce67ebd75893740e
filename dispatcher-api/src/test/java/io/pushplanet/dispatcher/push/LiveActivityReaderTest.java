package io.pushplanet.dispatcher.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.pushplanet.common.message.LiveActivity;
import io.pushplanet.common.message.Route;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.problem.FieldError;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.node.ObjectNode;

class LiveActivityReaderTest {
  private static final String TOKEN = "ab".repeat(32);

  private static SendRequest read(String activity) {
    return SendRequestReader.read(
        (ObjectNode)
            WireForm.mapper()
                .readTree("{\"audience\":{\"device\":\"d1\"},\"live_activity\":" + activity + "}"));
  }

  @Test
  void an_update_needs_no_content_and_goes_to_the_vendor() {
    SendRequest request =
        read(
            "{\"event\":\"update\",\"token\":\"%s\",\"content_state\":{\"minute\":90},\"stale_at\":\"2026-11-21T10:00:00Z\",\"relevance\":7}"
                .formatted(TOKEN));

    LiveActivity activity = request.overrides().liveActivity();
    assertThat(activity)
        .isNotNull()
        .returns(LiveActivity.Event.UPDATE, LiveActivity::event)
        .returns(TOKEN, LiveActivity::token)
        .returns(90, it -> it.contentState().path("minute").asInt())
        .returns(Instant.parse("2026-11-21T10:00:00Z"), LiveActivity::staleAt)
        .returns(7.0, LiveActivity::relevance);
    assertThat(request.content().data()).isEqualTo(Map.of("live_activity", "update"));
    assertThat(request.delivery().route()).isEqualTo(Route.VENDOR);
  }

  @Test
  void a_token_in_capitals_is_the_same_token() {
    LiveActivity activity =
        read("{\"event\":\"update\",\"token\":\"ABCDEF01\",\"content_state\":{}}")
            .overrides()
            .liveActivity();

    assertThat(activity).isNotNull().returns("abcdef01", LiveActivity::token);
  }

  @Test
  void a_live_activity_travels_on_the_lanes_unchanged() {
    SendRequest request =
        read(
            "{\"event\":\"start\",\"token\":\"%s\",\"content_state\":{},\"attributes_type\":\"Match\",\"attributes\":{\"home\":\"A\"}}"
                .formatted(TOKEN));

    var read =
        WireForm.read(
            WireForm.write(request.overrides()), io.pushplanet.common.message.Overrides.class);

    assertThat(read).isEqualTo(request.overrides());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'token':'abababab','content_state':{}} | event is one of start, update, end",
        "{'event':'pause','token':'abababab','content_state':{}} | event is one of",
        "{'event':'update','content_state':{}} | token is required",
        "{'event':'update','token':'xyz','content_state':{}} | hexadecimal",
        "{'event':'update','token':'abababab'} | content_state is required",
        "{'event':'start','token':'abababab','content_state':{}} | a start needs attributes_type",
        "{'event':'update','token':'abababab','content_state':{},'attributes':{}} | only a start has",
        "{'event':'update','token':'abababab','content_state':{},'dismiss_at':'2026-11-21T10:00:00Z'} | only an end has",
        "{'event':'end','token':'abababab','content_state':{},'dismiss_at':'soon'} | is a time in UTC",
        "{'event':'end','token':'abababab','content_state':{},'relevance':'high'} | is a number",
        "{'event':'end','token':'abababab','content_state':{},'colour':'red'} | colour"
      })
  void every_fault_is_reported(String activity, String told) {
    assertThatThrownBy(() -> read(activity.replace('\'', '"')))
        .isInstanceOf(ProblemException.class)
        .hasMessageContaining(told);
  }

  @ParameterizedTest
  @CsvSource({"1e999", "-1e999", "DIGITS"})
  void a_relevance_beyond_all_doubles_is_no_number(String written) {
    String relevance = written.replace("DIGITS", "1".repeat(310));

    assertThatThrownBy(() ->
            read(
                "{\"event\":\"end\",\"token\":\"abababab\",\"content_state\":{},\"relevance\":%s}"
                    .formatted(relevance)))
        .isInstanceOf(ProblemException.class)
        .hasMessageContaining("is a number");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'device':'d1'} | {'route':'mqtt'} | only APNs carries it",
        "{'topic':'news'} | {} | the audience is that device"
      })
  void a_live_activity_is_for_one_device_and_for_apns(
      String audience, String delivery, String told) {
    String body =
        "{'audience':%s,'delivery':%s,'live_activity':{'event':'update','token':'abababab','content_state':{}}}"
            .formatted(audience, delivery);

    assertThatThrownBy(() ->
            SendRequestReader.read(
                (ObjectNode) WireForm.mapper().readTree(body.replace('\'', '"'))))
        .isInstanceOf(ProblemException.class)
        .hasMessageContaining(told);
  }

  private static final String CHANNEL = "channel-0192e0f0-0000-7000-8000-000000000001";

  private static SendRequest readWhole(String body) {
    return SendRequestReader.read(
        (ObjectNode)
            WireForm.mapper().readTree(body.replace('\'', '"').replace("CHANNEL", CHANNEL)));
  }

  @Test
  void over_a_channel_an_update_needs_no_token() {
    SendRequest request =
        readWhole(
            "{'audience':{'channel':'CHANNEL'},'live_activity':{'event':'end','content_state':{}}}");

    assertThat(request.audience())
        .isEqualTo(new Audience.ActivityChannel(new ActivityChannelId(CHANNEL)));
    assertThat(request.overrides().liveActivity())
        .isNotNull()
        .returns(null, LiveActivity::token)
        .returns(LiveActivity.Event.END, LiveActivity::event);
    assertThat(request.delivery().route()).isEqualTo(Route.VENDOR);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'audience':{'channel':'CHANNEL'},'content':{'title':'x'}} | give live_activity",
        "{'audience':{'channel':'CHANNEL'},'live_activity':{'event':'start','content_state':{},'attributes_type':'A','attributes':{}}} | start at a token",
        "{'audience':{'channel':'CHANNEL'},'live_activity':{'event':'update','token':'abababab','content_state':{}}} | the channel says where it goes",
        "{'audience':{'channel':'news'},'live_activity':{'event':'update','content_state':{}}} | a channel id is",
        "{'audience':{'channel':'CHANNEL','device':'d1'},'live_activity':{'event':'update','content_state':{}}} | exactly one of",
        "{'audience':{'not':{'channel':'CHANNEL'}},'live_activity':{'event':'update','content_state':{}}} | not part of another audience",
        "{'audience':{'or':[{'channel':'CHANNEL'},{'topic':'t'}]},'content':{'title':'x'}} | not part of another audience",
        "{'audience':{'channel':'CHANNEL'},'delivery':{'route':'mqtt'},'live_activity':{'event':'update','content_state':{}}} | only APNs carries it"
      })
  void requests_that_a_channel_cannot_carry_are_refused(String body, String told) {
    assertThatThrownBy(() -> readWhole(body))
        .isInstanceOf(ProblemException.class)
        .hasMessageContaining(told);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"home\":[\"\\ud83d\"]} | {} | /live_activity/content_state",
        "{\"\\udc00\":1} | {} | /live_activity/content_state",
        "{} | {\"home\":\"a\\ud83d\"} | /live_activity/attributes"
      })
  void half_of_a_surrogate_pair_is_refused(String state, String attributes, String pointer) {
    assertThatThrownBy(() ->
            read(
                "{\"event\":\"start\",\"token\":\"%s\",\"content_state\":%s,\"attributes_type\":\"Match\",\"attributes\":%s}"
                    .formatted(TOKEN, state, attributes)))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem ->
                assertThat(problem.errors())
                    .extracting(FieldError::pointer, FieldError::code)
                    .containsExactly(tuple(pointer, "not_unicode")));
  }
}
