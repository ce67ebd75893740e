package io.pushplanet.dispatcher.audience;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.message.target.FcmToken;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class FcmTopicsTest {
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      delimiter = ';',
      value = {
        "'a' in topics; 1",
        "'a' in topics && 'b' in topics; 2",
        "'a' in topics&&('b' in topics||'c' in topics); 3",
        "!('a' in topics); 1",
        "!'a' in topics; 1",
        "( ( 'a-_.~%1' in topics ) ); 1",
        "'a' in topics || 'a' in topics || 'a' in topics || 'a' in topics || 'a' in topics; 5",
        "'a' in topics || 'b' in topics || 'c' in topics || 'd' in topics || 'e' in topics || 'f' in topics; 6"
      })
  void the_topics_of_a_condition_are_counted(String condition, int topics) {
    assertThat(FcmTopics.countIn(condition)).isEqualTo(topics);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "news",
        "news in topics",
        "\"news\" in topics",
        "'a' in topic",
        "'a' in topicsX",
        "'a b' in topics",
        "'/topics/a' in topics",
        "'' in topics",
        "'a' in topics &&",
        "&& 'a' in topics",
        "'a' in topics & 'b' in topics",
        "'a' in topics 'b' in topics",
        "'a' in topics and 'b' in topics",
        "('a' in topics",
        "'a' in topics)",
        ")'a' in topics(",
        "()",
        "!",
        "'a' in topics !",
        "'a' in topics ('b' in topics)",
        "'a' in topics && (|| 'b' in topics)"
      })
  void texts_that_are_no_condition_are_recognised(String condition) {
    assertThat(FcmTopics.countIn(condition)).isZero();
  }

  private static Stream<Audience.FcmFollowers> followers() {
    return Stream.of(
        new Audience.FcmTopic("news"),
        new Audience.FcmTopic("50%~off"),
        new Audience.FcmTopic("n".repeat(900)),
        new Audience.FcmCondition("'news' in topics"));
  }

  @ParameterizedTest
  @MethodSource("followers")
  void a_topic_has_a_stable_recipient_id_that_no_device_can_have(Audience.FcmFollowers followers) {
    var found = FcmTopics.found(followers);

    DeviceId recipient = found.devices().getFirst();
    assertThat(found.devices()).hasSize(1);
    assertThat(found).isEqualTo(FcmTopics.found(followers));
    assertThat(FcmTopics.isRecipient(recipient.value())).isTrue();
    assertThat(found.routes().get(recipient).recipient().namesDevice()).isFalse();
  }

  @Test
  void a_topic_can_be_read_in_its_id_where_that_is_one() {
    assertThat(recipient(new Audience.FcmTopic("news"))).isEqualTo("fcm-topic:news");
    assertThat(recipient(new Audience.FcmTopic("50%")))
        .matches("fcm-topic::[A-Za-z0-9_-]{43}")
        .isNotEqualTo(recipient(new Audience.FcmTopic("51%")));
  }

  @Test
  void fcm_is_told_the_topic_or_the_condition_itself() {
    assertThat(way(new Audience.FcmTopic("news")))
        .returns("news", FcmToken::token)
        .returns("topic", FcmToken::kind);
    assertThat(way(new Audience.FcmCondition("'news' in topics")))
        .returns("'news' in topics", FcmToken::token)
        .returns("condition", FcmToken::kind);
  }

  private static String recipient(Audience.FcmFollowers followers) {
    return FcmTopics.found(followers).devices().getFirst().value();
  }

  private static FcmToken way(Audience.FcmFollowers followers) {
    FcmToken way = FcmTopics.found(followers).routes().values().iterator().next().fcm();
    assertThat(way).isNotNull();
    return way;
  }
}
