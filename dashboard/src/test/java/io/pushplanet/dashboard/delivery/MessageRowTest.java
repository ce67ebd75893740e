package io.pushplanet.dashboard.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.ActivityChannelId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class MessageRowTest {
  private static final Instant AT = Instant.parse("2026-11-21T10:00:00Z");

  @Test
  void a_message_is_done_when_every_recipient_has_ended() {
    assertThat(row("{\"title\":\"t\"}", AT, null, 3, 2).state()).isEqualTo("sending");
    assertThat(row("{\"title\":\"t\"}", AT, null, 3, 3).state()).isEqualTo("done");
    assertThat(row("{\"title\":\"t\"}", null, null, 0, 0).state()).isEqualTo("accepted");
    assertThat(row("{\"title\":\"t\"}", AT, AT, 3, 0).state()).isEqualTo("cancelled");
  }

  /// In the words of the API, so that the backend and the operator of an app name the state alike.
  @Test
  void a_message_of_which_nothing_has_ended_is_accepted() {
    assertThat(row("{\"title\":\"t\"}", AT, null, 3, 0).state()).isEqualTo("accepted");
    assertThat(row("{\"title\":\"t\"}", null, null, 3, 0).state()).isEqualTo("accepted");
    assertThat(row("{\"title\":\"t\"}", null, null, 3, 3).state()).isEqualTo("sending");
    assertThat(row("{\"title\":\"t\"}", null, null, 0, 2).state()).isEqualTo("sending");
    assertThat(row("{\"title\":\"t\"}", AT, null, 0, 0).state()).isEqualTo("done");
  }

  @Test
  void a_message_without_a_title_is_named_by_what_it_has() {
    assertThat(row("{\"title\":\"<b>\"}", AT, null, 1, 1).title()).isEqualTo("<b>");
    assertThat(row("{\"body\":\"words\"}", AT, null, 1, 1).title()).isEqualTo("words");
    assertThat(row("{\"data\":{\"a\":\"1\"}}", AT, null, 1, 1).title()).isEqualTo("data only");
    assertThat(row("broken", AT, null, 1, 1).title()).isEqualTo("data only");
  }

  @Test
  void an_audience_made_of_others_is_told_in_words() {
    var audience =
        new Audience.And(
            List.of(
                new Audience.Tag("news"),
                new Audience.Not(
                    new Audience.Or(
                        List.of(new Audience.Topic("muted"), new Audience.Users(List.of("u1")))))));

    assertThat(
            row(WireForm.mapper().writeValueAsString(audience), "{}", AT, null, 1, 1)
                .audienceWords())
        .isEqualTo("(tag news and not (topic muted or user u1))");
  }

  @Test
  void a_broadcast_channel_is_told_by_its_name() {
    var channel =
        new Audience.ActivityChannel(
            new ActivityChannelId("channel-01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf"));
    var over = row(WireForm.mapper().writeValueAsString(channel), "{}", AT, null, 1, 1);

    assertThat(over.audienceWords()).isEqualTo("channel-01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf");
    assertThat(over.isSpreadByVendor()).isTrue();
    assertThat(row("{}", AT, null, 1, 1).isSpreadByVendor()).isFalse();
  }

  @Test
  void topics_of_firebases_are_told_apart_from_ours() {
    var topic = WireForm.mapper().writeValueAsString(new Audience.FcmTopic("news"));
    var condition =
        WireForm.mapper().writeValueAsString(new Audience.FcmCondition("'a' in topics"));

    assertThat(row(topic, "{}", AT, null, 1, 1))
        .returns("Firebase topic news", MessageRow::audienceWords)
        .returns(true, MessageRow::isSpreadByVendor);
    assertThat(row(condition, "{}", AT, null, 1, 1))
        .returns("Firebase condition 'a' in topics", MessageRow::audienceWords)
        .returns(true, MessageRow::isSpreadByVendor);
  }

  @Test
  void an_audience_of_which_a_list_read_the_start_is_told_by_its_kind() {
    List<String> users = IntStream.range(0, 1_000).mapToObj(i -> "user-" + i).toList();
    var devices = new Audience.Devices(users.stream().map(DeviceId::new).toList());

    assertThat(listed(devices)).isEqualTo("many devices");
    assertThat(listed(new Audience.Users(users))).isEqualTo("many users");
    assertThat(listed(new Audience.Or(List.of(new Audience.Users(users), new Audience.Tag("vip")))))
        .isEqualTo("a large audience");
  }

  private static String listed(Audience audience) {
    String start =
        WireForm.mapper().writeValueAsString(audience).substring(0, MessageMapper.AUDIENCE_LISTED);
    return row(start, "{}", AT, null, 1, 1).audienceWords();
  }

  private static MessageRow row(
      String content,
      @Nullable Instant expandedAt,
      @Nullable Instant cancelledAt,
      int recipients,
      int delivered) {
    return row("{\"kind\":\"all\"}", content, expandedAt, cancelledAt, recipients, delivered);
  }

  private static MessageRow row(
      String audience,
      String content,
      @Nullable Instant expandedAt,
      @Nullable Instant cancelledAt,
      int recipients,
      int delivered) {
    return new MessageRow(
        new MessageId("01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf"),
        new AppId("shop"),
        audience,
        content,
        "{}",
        AT,
        AT,
        expandedAt,
        cancelledAt,
        recipients,
        delivered,
        0,
        0,
        0,
        0,
        0);
  }
}
