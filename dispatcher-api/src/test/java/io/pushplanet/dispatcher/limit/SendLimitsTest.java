package io.pushplanet.dispatcher.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.pushplanet.common.message.AppId;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletResponse;

class SendLimitsTest {
  private static final AppId SHOP = new AppId("shop");

  private final MutableClock clock = MutableClock.started();

  private SendLimits limits(int perSecond) {
    return new SendLimits(
        new DispatcherSettings(
            "h",
            1,
            2,
            Duration.ofDays(1),
            Duration.ofHours(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofSeconds(1),
            Duration.ofHours(1),
            perSecond),
        clock);
  }

  @Test
  void an_app_may_send_its_seconds_worth_and_then_waits() {
    SendLimits limits = limits(10);
    MockHttpServletResponse answer = new MockHttpServletResponse();
    limits.take(SHOP, 10, answer);

    assertThatThrownBy(() -> limits.take(SHOP, 1, answer))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ProblemCode.RATE_LIMITED);
              assertThat(problem.headers()).containsEntry("Retry-After", "1");
            });
    assertThat(answer.getHeader("RateLimit-Policy")).isEqualTo("\"messages\";q=10;w=1");
    limits.take(new AppId("other"), 10, answer);
    clock.advance(Duration.ofMillis(200));
    limits.take(SHOP, 2, answer);
    assertThat(answer.getHeader("RateLimit")).isEqualTo("\"messages\";r=0;t=1");
  }

  @Test
  void a_batch_larger_than_the_limit_is_taken_from_a_full_bucket_and_paid_off() {
    SendLimits limits = limits(10);
    MockHttpServletResponse answer = new MockHttpServletResponse();

    limits.take(SHOP, 1, answer);
    assertThat(refused(limits, 300, answer)).isEqualTo("1");
    clock.advance(Duration.ofSeconds(1));
    limits.take(SHOP, 300, answer);

    assertThat(answer.getHeader("RateLimit")).isEqualTo("\"messages\";r=0;t=30");
    clock.advance(Duration.ofMillis(2_100));
    assertThat(refused(limits, 1, answer)).isEqualTo("27");
    assertThat(answer.getHeader("RateLimit")).isEqualTo("\"messages\";r=0;t=27");
    assertThat(refused(limits, 300, answer)).isEqualTo("28");
    assertThat(answer.getHeader("RateLimit")).isEqualTo("\"messages\";r=0;t=28");
    clock.advance(Duration.ofSeconds(27));
    limits.take(SHOP, 1, answer);
  }

  @Test
  void what_is_given_back_may_be_taken_again_and_no_more_than_a_second_is_worth() {
    SendLimits limits = limits(10);
    MockHttpServletResponse answer = new MockHttpServletResponse();
    limits.take(SHOP, 8, answer);

    limits.giveBack(SHOP, 3, answer);

    assertThat(answer.getHeader("RateLimit")).isEqualTo("\"messages\";r=5;t=1");
    limits.take(SHOP, 5, answer);
    assertThat(refused(limits, 1, answer)).isEqualTo("1");
    limits.giveBack(SHOP, 300, answer);
    limits.take(SHOP, 10, answer);
    assertThat(refused(limits, 1, answer)).isEqualTo("1");
  }

  /// @return its Retry-After
  private static String refused(SendLimits limits, int messages, MockHttpServletResponse answer) {
    ProblemException problem =
        catchThrowableOfType(ProblemException.class, () -> limits.take(SHOP, messages, answer));
    assertThat(problem.code()).isEqualTo(ProblemCode.RATE_LIMITED);
    return problem.headers().getOrDefault("Retry-After", "");
  }

  @Test
  void the_debt_for_a_batch_is_kept_until_it_is_paid_off() {
    assertThat(SendLimits.kept(1)).isGreaterThan(Duration.ofSeconds(1_000));
    assertThat(SendLimits.kept(0)).isPositive();
  }

  @Test
  void without_a_limit_no_header_is_sent() {
    MockHttpServletResponse answer = new MockHttpServletResponse();

    SendLimits limits = limits(0);

    limits.take(SHOP, 1_000, answer);
    limits.giveBack(SHOP, 1_000, answer);

    assertThat(answer.getHeader("RateLimit")).isNull();
  }
}
