package io.pushplanet.gateway.oauth;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.access.Secret;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.Eventually;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.connection.LiveRequest;
import io.pushplanet.gateway.credential.Credential.HmsClient;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AccessTokensTest {
  private static final Duration PATIENCE = Duration.ofSeconds(20);
  private static final HmsClient CLIENT = new HmsClient("1", new Secret("s"), "fingerprint");

  private final MutableClock clock = MutableClock.started();
  private final MutableClock timeOfDay = MutableClock.started();
  private final AtomicInteger asked = new AtomicInteger();
  private volatile int status = 200;
  private volatile String life = "3600";
  private volatile String error = "";
  private volatile String padding = "";
  private volatile CountDownLatch answersFrom = new CountDownLatch(0);
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private HttpServer endpoint;
  private AccessTokens<HmsClient> tokens;

  @BeforeEach
  void start() throws Exception {
    endpoint = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    endpoint.createContext(
        "/",
        exchange -> {
          CountDownLatch from = answersFrom;
          int number = asked.incrementAndGet();
          await(from);
          byte[] answer =
              "{\"access_token\":\"token-%d\",\"expires_in\":%s%s}%s"
                  .formatted(number, life, error, padding)
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    endpoint.setExecutor(threads);
    endpoint.start();
    URI address = URI.create("http://127.0.0.1:" + endpoint.getAddress().getPort() + "/token");
    tokens =
        new AccessTokens<>(
            (_, _) -> new TokenRequest(address, Map.of("grant_type", "client_credentials")),
            new LiveRequest(SSLContext.getDefault(), Duration.ofMinutes(1)),
            Duration.ofMinutes(1),
            timeOfDay,
            clock,
            new ProviderMetrics(new SimpleMeterRegistry(), Channel.HMS));
  }

  private static void await(CountDownLatch from) {
    try {
      from.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @AfterEach
  void stop() {
    answersFrom.countDown();
    endpoint.stop(0);
    threads.shutdownNow();
  }

  @Test
  void a_token_stands_no_longer_when_the_time_of_day_is_set_back() {
    tokens.current(CLIENT);

    timeOfDay.advance(Duration.ofHours(-2));
    clock.advance(Duration.ofMinutes(56));
    tokens.current(CLIENT);

    assertThat(asked).hasValue(2);
  }

  @Test
  void a_token_is_used_to_its_end_while_the_endpoint_is_away() {
    Grant first = tokens.current(CLIENT);
    clock.advance(Duration.ofMinutes(56));
    status = 503;

    assertThat(tokens.current(CLIENT)).isEqualTo(first);
    assertThat(tokens.current(CLIENT)).isEqualTo(first);
    assertThat(asked).hasValue(2);

    clock.advance(Duration.ofMinutes(4));
    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Unavailable("token_endpoint_503"));
  }

  @Test
  void a_slow_endpoint_delays_no_send_while_the_token_lasts() throws Exception {
    Grant first = tokens.current(CLIENT);
    clock.advance(Duration.ofMinutes(56));
    answersFrom = new CountDownLatch(1);
    Future<Grant> renewing = threads.submit(() -> tokens.current(CLIENT));
    Eventually.within(PATIENCE, () -> assertThat(asked).hasValue(2));

    Future<Grant> another = threads.submit(() -> tokens.current(CLIENT));

    assertThat(another.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isEqualTo(first);
    assertThat(renewing.isDone()).isFalse();
    answersFrom.countDown();
    assertThat(renewing.get()).isEqualTo(new Grant.Granted("token-2"));
    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Granted("token-2"));
  }

  @Test
  void one_credentials_slow_endpoint_delays_no_other_credential() throws Exception {
    CountDownLatch slowlyFrom = new CountDownLatch(1);
    answersFrom = slowlyFrom;
    Future<Grant> slow = threads.submit(() -> tokens.current(CLIENT));
    Eventually.within(PATIENCE, () -> assertThat(asked).hasValue(1));
    answersFrom = new CountDownLatch(0);
    HmsClient other = new HmsClient("2", new Secret("s"), "another fingerprint");

    Future<Grant> fast = threads.submit(() -> tokens.current(other));

    assertThat(fast.get(PATIENCE.toSeconds(), TimeUnit.SECONDS))
        .isEqualTo(new Grant.Granted("token-2"));
    assertThat(slow.isDone()).isFalse();
    slowlyFrom.countDown();
    assertThat(slow.get()).isEqualTo(new Grant.Granted("token-1"));
  }

  @Test
  void a_refused_token_is_not_used_while_the_endpoint_is_away() {
    Grant.Granted first = (Grant.Granted) tokens.current(CLIENT);
    status = 503;

    assertThat(tokens.renewed(CLIENT, first))
        .isEqualTo(new Grant.Unavailable("token_endpoint_503"));
    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Unavailable("token_endpoint_503"));
  }

  @Test
  void a_refused_credential_gets_no_token_though_the_former_has_not_ended() {
    tokens.current(CLIENT);
    clock.advance(Duration.ofMinutes(56));
    status = 401;
    error = ",\"error\":\"invalid_client\"";

    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Refused(401, "invalid_client"));
  }

  @ParameterizedTest
  @ValueSource(ints = {400, 401, 403, 404})
  void a_refusal_without_the_vendors_word_is_not_the_vendors(int refusal) {
    status = refusal;

    assertThat(tokens.current(CLIENT))
        .isEqualTo(new Grant.Unavailable("token_endpoint_" + refusal));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-1", "299", "null", "\"soon\"", "{}", "1e300"})
  void an_endpoint_that_tells_a_life_of_nonsense_is_not_asked_by_every_message(String told) {
    life = told;

    Grant first = tokens.current(CLIENT);

    assertThat(first).isEqualTo(new Grant.Granted("token-1"));
    assertThat(tokens.current(CLIENT)).isEqualTo(first);
    assertThat(asked).hasValue(1);
  }

  @Test
  void a_token_without_end_is_asked_for_again_within_a_day() {
    life = Long.toString(Long.MAX_VALUE);
    tokens.current(CLIENT);
    clock.advance(Duration.ofDays(1));

    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Granted("token-2"));
  }

  @Test
  void a_token_of_few_minutes_is_renewed_half_way() {
    life = "120";
    tokens.current(CLIENT);
    clock.advance(Duration.ofSeconds(59));
    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Granted("token-1"));
    clock.advance(Duration.ofSeconds(2));

    assertThat(tokens.current(CLIENT)).isEqualTo(new Grant.Granted("token-2"));
  }

  @Test
  void an_endpoint_that_says_too_much_is_hung_up_on() {
    padding = " ".repeat(100_000);

    assertThat(tokens.current(CLIENT))
        .isEqualTo(new Grant.Unavailable("token_endpoint_unreachable"));
  }
}
