package io.pushplanet.dashboard.deadletter;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Envelope;
import com.rabbitmq.client.GetResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeadLettersTest {
  private static final String ID = "01a1fc9a-a1eb-76b5-9f6e-4fed5846eeaf";

  @Test
  void the_message_is_found_in_a_push_an_order_and_an_event() {
    for (String body :
        new String[] {
          "{\"id\":\"" + ID + "\"}",
          "[{\"id\":\"" + ID + "\"}]",
          "{\"push\":{\"id\":\"" + ID + "\"}}",
          "{\"message\":\"" + ID + "\"}"
        }) {
      assertThat(letter("push.events", body).message()).as(body).isPresent();
    }
    for (String rubbish :
        new String[] {"", "[]", "[{},{}]", "{\"id\":7}", "{\"id\":\"x\"}", "\u0000"}) {
      assertThat(letter("push.events", rubbish).message()).as(rubbish).isEmpty();
    }
  }

  @Test
  void only_a_queue_of_ours_is_replayed_to() {
    assertThat(letter("push.mqtt.high", "a").isReplayable()).isTrue();
    assertThat(letter("somebody.elses", "a").isReplayable()).isFalse();
    assertThat(letter("", "a").isReplayable()).isFalse();
  }

  /// Orders had a single queue before each priority had its own.
  @Test
  void an_order_of_the_former_queue_is_replayed_to_the_one_that_is_taken() {
    assertThat(letter("push.fanout", "a"))
        .returns("push.fanout.normal", DeadLetter::queue)
        .returns(true, DeadLetter::isReplayable);
  }

  @Test
  void letters_are_told_apart_by_queue_and_body() {
    assertThat(letter("push.mqtt.high", "a").digest())
        .isEqualTo(letter("push.mqtt.high", "a").digest())
        .isNotEqualTo(letter("push.mqtt.high", "b").digest())
        .isNotEqualTo(letter("push.mqtt.normal", "a").digest());
  }

  @Test
  void a_letter_opens_with_its_first_4_kilobytes_as_text() {
    assertThat(letter("", "grüße\u0000\n\u001b[31m").opening())
        .isEqualTo("grüße\uFFFD\n\uFFFD[31m");
    assertThat(letter("", "x".repeat(4_096)))
        .returns("x".repeat(4_096), DeadLetter::opening)
        .returns(false, DeadLetter::isLongerThanShown);
    assertThat(letter("", "x".repeat(300_000)))
        .returns("x".repeat(4_096), DeadLetter::opening)
        .returns(true, DeadLetter::isLongerThanShown);
  }

  @Test
  void a_brief_reason_quotes_no_body() {
    assertThat(because("broken since today").briefly()).isEqualTo("broken since today");
    assertThat(because("not a batch of Push: Unrecognized token 'Hello'").briefly())
        .isEqualTo("not a batch of Push");
    assertThat(because("Unrecognized token 'Hello'").briefly()).isEqualTo("Unrecognized token");
    assertThat(because("refused: Duplicate entry 'a' for key").briefly()).isEqualTo("refused");
    assertThat(because("").briefly()).isEmpty();
  }

  private static DeadLetter because(String reason) {
    return new DeadLetter("", "", reason, 0, null, Optional.empty(), "");
  }

  private static DeadLetter letter(String queue, String body) {
    return DeadLetter.of(
        new GetResponse(
            new Envelope(1, false, "", "push.dead"),
            new AMQP.BasicProperties.Builder().headers(Map.of("x-pushplanet-queue", queue)).build(),
            body.getBytes(StandardCharsets.UTF_8),
            0));
  }
}
