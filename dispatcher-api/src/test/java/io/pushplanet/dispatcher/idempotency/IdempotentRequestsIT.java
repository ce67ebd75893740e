package io.pushplanet.dispatcher.idempotency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.dispatcher.idempotency.IdempotentRequests.Given;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.quickstart.services.LocalServices;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.mock.web.MockHttpServletRequest;

/// Keys are held in the real Redis; time passes by hand.
class IdempotentRequestsIT {
  private static final Answer ANSWER = new Answer(202, null, "{}");
  private static final Duration KEPT = Duration.ofMinutes(30);
  private static final byte[] BODY = "{\"messages\":[]}".getBytes(StandardCharsets.UTF_8);

  private final AppId app = new AppId("app-" + UUID.randomUUID());
  private final MutableClock clock = MutableClock.started();
  private final RedisClient client =
      RedisClient.create(LocalServices.forTests().redis().toString());
  private final RedisLink redis = RedisLink.open(client);
  private final IdempotentRequests requests =
      new IdempotentRequests(
          redis, new MessageIds(clock, new Random(7)), KEPT, clock, new SimpleMeterRegistry());

  @AfterEach
  void close() {
    redis.close();
    client.shutdown();
  }

  private Given once(Function<Work, Answer> work) {
    return requests.once(app, "batch", request(), BODY, work);
  }

  private static MockHttpServletRequest request() {
    MockHttpServletRequest request = new MockHttpServletRequest();
    request.addHeader("Idempotency-Key", "order-77");
    return request;
  }

  private static Answer never(Work work) {
    throw new AssertionError("worked on twice: " + work.id());
  }

  private void isRefusedAsInProgress() {
    assertThatThrownBy(() -> once(IdempotentRequestsIT::never))
        .isInstanceOfSatisfying(
            ProblemException.class,
            problem -> {
              assertThat(problem.code()).isEqualTo(ProblemCode.REQUEST_IN_PROGRESS);
              assertThat(problem.headers()).containsEntry("Retry-After", "1");
            });
  }

  @Test
  void an_answer_is_kept_as_long_as_the_setting_says() {
    once(_ -> ANSWER);

    String key = redis.ask(commands -> commands.keys("idempotency:" + app + ":*")).getFirst();
    long keptMillis = redis.ask(commands -> commands.pttl(key));
    assertThat(keptMillis).isPositive().isLessThanOrEqualTo(KEPT.toMillis());
  }

  /// A batch waits for memory and for the broker again and again.
  @Test
  void a_request_holds_its_key_as_long_as_it_gives_signs_of_work() {
    Given first =
        once(work -> {
          for (int step = 0; step < 10; step++) {
            clock.advance(Duration.ofSeconds(24));
            isRefusedAsInProgress();
            work.goesOn();
          }
          return ANSWER;
        });

    assertThat(first).isEqualTo(new Given(ANSWER, false));
    assertThat(once(IdempotentRequestsIT::never)).isEqualTo(new Given(ANSWER, true));
  }

  @Test
  void a_request_that_fails_after_a_sign_frees_its_key() {
    List<MessageId> ids = new ArrayList<>();
    assertThatThrownBy(() ->
            once(work -> {
              ids.add(work.id());
              clock.advance(Duration.ofSeconds(20));
              work.goesOn();
              throw new IllegalStateException("the broker is away");
            }))
        .isInstanceOf(IllegalStateException.class);

    Given second =
        once(work -> {
          ids.add(work.id());
          return ANSWER;
        });

    assertThat(second.replayed()).isFalse();
    assertThat(ids).hasSize(2).containsOnly(ids.getFirst());
  }

  /// Its process may have died.
  @Test
  void a_request_that_gives_no_sign_is_repeated_under_its_id() {
    List<MessageId> ids = new ArrayList<>();

    once(work -> {
      ids.add(work.id());
      clock.advance(Duration.ofSeconds(31));
      once(repeat -> {
        ids.add(repeat.id());
        return ANSWER;
      });
      work.goesOn();
      return new Answer(503, null, "{}");
    });

    assertThat(ids).hasSize(2).containsOnly(ids.getFirst());
    assertThat(once(IdempotentRequestsIT::never)).isEqualTo(new Given(ANSWER, true));
  }

  @Test
  void a_quick_request_does_not_hold_its_key_anew() {
    once(work -> {
      String before = held();
      clock.advance(Duration.ofSeconds(4));
      work.goesOn();
      assertThat(held()).isEqualTo(before);
      clock.advance(Duration.ofSeconds(1));
      work.goesOn();
      assertThat(held()).isNotEqualTo(before);
      return ANSWER;
    });
  }

  /// A request that the rate limit refuses must not fill Redis.
  @Test
  void a_look_for_the_answer_of_before_reserves_nothing() {
    assertThat(before(BODY)).isEmpty();
    assertThat(redis.<List<String>>ask(commands -> commands.keys("idempotency:" + app + ":*")))
        .isEmpty();

    once(work -> {
      assertThat(before(BODY)).isEmpty();
      return ANSWER;
    });

    assertThat(before(BODY)).contains(new Given(ANSWER, true));
    assertThat(before("{}".getBytes(StandardCharsets.UTF_8))).isEmpty();
    assertThat(requests.before(app, "messages", request(), BODY)).isEmpty();
    assertThat(requests.before(app, "batch", new MockHttpServletRequest(), BODY)).isEmpty();
  }

  private Optional<Given> before(byte[] body) {
    return requests.before(app, "batch", request(), body);
  }

  private String held() {
    List<String> keys = redis.ask(commands -> commands.keys("idempotency:" + app + ":*"));
    assertThat(keys).hasSize(1);
    return redis.ask(commands -> commands.get(keys.getFirst()));
  }
}
