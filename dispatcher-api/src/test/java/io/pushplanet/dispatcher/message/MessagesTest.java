package io.pushplanet.dispatcher.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.Test;

class MessagesTest {
  private final MutableClock clock = MutableClock.started();
  private final MessageId id = new MessageIds(clock, new Random(7)).next();

  /// Redis may have been away when it was accepted, and the statistics may be behind.
  @Test
  void a_message_of_today_that_nobody_knows_may_become_known() {
    clock.advance(Duration.ofHours(23));

    ProblemException problem = Messages.unknown(id, clock.instant());

    assertThat(problem.code()).isEqualTo(ProblemCode.MESSAGE_NOT_KNOWN_YET);
    assertThat(problem.code().status()).isEqualTo(404);
    assertThat(problem.headers()).containsEntry("Retry-After", "2");
    assertThat(problem.detail()).contains(id.value(), "do not send it again");
  }

  @Test
  void the_clocks_of_two_dispatchers_may_differ() {
    assertThat(Messages.unknown(id, clock.instant().minusSeconds(5)).code())
        .isEqualTo(ProblemCode.MESSAGE_NOT_KNOWN_YET);
  }

  @Test
  void an_old_message_that_nobody_knows_does_not_exist() {
    clock.advance(Duration.ofHours(25));

    ProblemException problem = Messages.unknown(id, clock.instant());

    assertThat(problem.code()).isEqualTo(ProblemCode.MESSAGE_NOT_FOUND);
    assertThat(problem.headers()).isEmpty();
  }
}
