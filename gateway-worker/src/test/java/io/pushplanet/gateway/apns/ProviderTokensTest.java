package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.LogLines;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Base64;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class ProviderTokensTest {
  /// When Redis is asked again.
  private static final Duration SOON = Duration.ofSeconds(1);

  private final MutableClock clock = MutableClock.started();
  private final KeyPair pair = keyPair();
  private final ApnsKey key =
      new ApnsKey("TEAM000001", "KEY0000001", "com.example", (ECPrivateKey) pair.getPrivate(), "f");

  /// Tokens that stand until a test removes them, as in Redis: it counts their life from the
  /// agreement, and by a clock of its own.
  private final LocalTokens shared = new LocalTokens(MutableClock.started());

  private final ProviderTokens one = worker(shared);
  private final ProviderTokens other = worker(shared);

  private ProviderTokens worker(SharedTokens shared) {
    return new ProviderTokens(
        shared, clock, new ProviderMetrics(new SimpleMeterRegistry(), Channel.APNS));
  }

  @Test
  void a_token_says_team_key_and_time_and_verifies_with_the_public_key() throws Exception {
    String[] parts = worker(LocalTokens.away(clock)).current(key).jwt().split("\\.");

    JsonNode header = json(parts[0]);
    JsonNode claims = json(parts[1]);
    byte[] signature = Base64.getUrlDecoder().decode(parts[2]);
    Signature verifier = Signature.getInstance("SHA256withECDSAinP1363Format");
    verifier.initVerify(pair.getPublic());
    verifier.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
    assertThat(header.path("alg").asString()).isEqualTo("ES256");
    assertThat(header.path("kid").asString()).isEqualTo("KEY0000001");
    assertThat(claims.path("iss").asString()).isEqualTo("TEAM000001");
    assertThat(claims.path("iat").asLong()).isEqualTo(clock.instant().getEpochSecond());
    assertThat(signature).hasSize(64);
    assertThat(verifier.verify(signature)).isTrue();
  }

  @Test
  void a_token_lives_fifty_minutes() {
    ProviderToken first = one.current(key);

    ProviderToken same = agreedAfter(Duration.ofMinutes(49));
    clock.advance(Duration.ofMinutes(2));
    ProviderToken renewed = one.current(key);

    assertThat(same).isEqualTo(first);
    assertThat(renewed.jwt()).isNotEqualTo(first.jwt());
  }

  @Test
  void many_threads_and_two_workers_get_one_token() {
    Set<String> seen = ConcurrentHashMap.newKeySet();

    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 100; i++) {
        ProviderTokens worker = i % 2 == 0 ? one : other;
        threads.execute(() -> seen.add(worker.current(key).jwt()));
      }
    }

    assertThat(seen).hasSize(1);
  }

  @Test
  void an_expired_token_is_renewed_once_for_all_callers() {
    ProviderToken refused = one.current(key);
    clock.advance(Duration.ofMinutes(1));

    Set<String> renewed = new HashSet<>();
    for (int i = 0; i < 5; i++) {
      one.renewed(key, refused).ifPresent(token -> renewed.add(token.jwt()));
    }

    assertThat(renewed).hasSize(1).doesNotContain(refused.jwt());
  }

  @Test
  void gorush_693_after_ten_idle_hours_the_next_push_has_a_token_that_apns_takes() {
    ProviderTokens tokens = worker(LocalTokens.away(clock));
    ProviderToken before = tokens.current(key);

    clock.advance(Duration.ofHours(10));

    assertThat(tokens.current(key)).isNotEqualTo(before);
    assertThat(tokens.current(key).issuedAt()).isEqualTo(seconds(clock.instant()));
  }

  @Test
  void bark_server_76_a_token_of_a_clock_that_has_stepped_back_is_used_no_more() {
    clock.advance(Duration.ofHours(2));
    ProviderToken wrong = one.current(key);
    clock.advance(Duration.ofMinutes(1));
    assertThat(one.renewed(key, wrong)).isPresent();
    clock.advance(Duration.ofHours(-2));

    ProviderToken right = one.current(key);

    assertThat(right.issuedAt()).isEqualTo(seconds(clock.instant()));
    assertThat(worker(shared).current(key)).isEqualTo(right);
    clock.advance(Duration.ofMinutes(1));
    assertThat(one.renewed(key, right)).isPresent();
  }

  private static Instant seconds(Instant time) {
    return time.truncatedTo(ChronoUnit.SECONDS);
  }

  @Test
  void a_second_renewal_waits_twenty_minutes() {
    ProviderTokens tokens = worker(LocalTokens.away(clock));
    ProviderToken second = renewedAfterAMinute(tokens);

    clock.advance(Duration.ofMinutes(19));
    Optional<ProviderToken> tooSoon = tokens.renewed(key, second);
    clock.advance(Duration.ofMinutes(2));
    Optional<ProviderToken> later = tokens.renewed(key, second);

    assertThat(tooSoon).isEmpty();
    assertThat(later).isPresent();
  }

  @Test
  void after_too_many_tokens_the_older_one_is_used_again() {
    ProviderToken older = one.current(key);
    ProviderToken newer = agreedAfter(Duration.ofMinutes(51));

    one.keepOlder(key, newer, ProviderTokens.REST);

    assertThat(one.renewed(key, older)).isEmpty();
    assertThat(one.current(key)).isEqualTo(older);
    clock.advance(Duration.ofMinutes(6));
    assertThat(one.current(key)).isEqualTo(older);
    clock.advance(Duration.ofMinutes(1));
    shared.held.clear();
    assertThat(one.current(key)).isEqualTo(newer);
  }

  @Test
  void that_there_were_too_many_tokens_is_logged_once_a_minute() {
    ProviderTokens tokens = worker(LocalTokens.away(clock));
    ProviderToken refused = tokens.current(key);
    try (LogLines log = new LogLines(ProviderTokens.class)) {
      tokens.keepOlder(key, refused, ProviderTokens.REST);
      tokens.keepOlder(key, refused, ProviderTokens.REST);
      assertThat(log.said())
          .singleElement()
          .asString()
          .contains("event=apns_too_many_provider_tokens");

      clock.advance(Duration.ofSeconds(61));
      tokens.keepOlder(key, refused, ProviderTokens.REST);
      assertThat(log.said()).hasSize(2);
    }
  }

  @Test
  void after_too_many_tokens_all_workers_use_the_older_one_to_its_end() {
    ProviderToken older = one.current(key);
    ProviderToken newer = agreedAfter(Duration.ofMinutes(51));
    ProviderTokens another = worker(shared);
    assertThat(another.current(key)).isEqualTo(newer);

    one.keepOlder(key, newer, ProviderTokens.REST);
    another.keepOlder(key, newer, ProviderTokens.REST);

    assertThat(shared.life).isEqualTo(Duration.ofMinutes(7));
    clock.advance(Duration.ofMinutes(5));
    shared.held.clear();
    one.share();
    assertThat(shared.life).isEqualTo(Duration.ofMinutes(2));
    assertThat(one.current(key)).isEqualTo(older);
    assertThat(another.current(key)).isEqualTo(older);
    assertThat(worker(shared).current(key)).isEqualTo(older);
  }

  @Test
  void a_worker_that_starts_meanwhile_uses_the_older_token_to_its_end() {
    ProviderToken older = one.current(key);
    clock.advance(ProviderTokens.RENEWED_AFTER);
    ProviderToken newer = one.current(key);
    one.keepOlder(key, newer, ProviderTokens.REST);
    ProviderTokens fresh = worker(shared);

    for (int minute = 50; minute < 58; minute++) {
      assertThat(fresh.current(key)).isEqualTo(older);
      clock.advance(Duration.ofMinutes(1));
    }

    assertThat(newer).isNotEqualTo(older);
    assertThat(fresh.current(key)).isNotEqualTo(older);
  }

  @Test
  void the_token_that_apns_refused_is_not_the_older_one() {
    ProviderToken token = one.current(key);
    clock.advance(Duration.ofMinutes(10));

    assertThat(one.keepOlder(key, token, ProviderTokens.REST)).isTrue();

    shared.held.clear();
    clock.advance(SOON);
    assertThat(one.rest(key)).isPresent();
    assertThat(one.current(key)).isEqualTo(token);
  }

  @Test
  void a_token_that_was_refused_for_twenty_minutes_is_made_anew_and_tried_no_more() {
    ProviderToken refused = one.current(key);
    assertThat(other.current(key)).isEqualTo(refused);
    one.keepOlder(key, refused, ProviderTokens.REST);
    other.keepOlder(key, refused, ProviderTokens.REST);

    clock.advance(ProviderTokens.SHORTEST_LIFE.minusSeconds(1));
    assertThat(one.rest(key)).isEmpty();
    assertThat(one.current(key)).isEqualTo(refused);
    one.keepOlder(key, refused, SOON);
    clock.advance(SOON);
    assertThat(one.rest(key)).isEmpty();
    ProviderToken anew = one.current(key);

    assertThat(anew.issuedAt()).isEqualTo(seconds(clock.instant()));
    assertThat(one.rest(key)).contains(ProviderTokens.REST);
    assertThat(other.rest(key)).isEmpty();
    assertThat(other.current(key)).isEqualTo(anew);
    assertThat(one.keepOlder(key, anew, ProviderTokens.REST)).isTrue();
    assertThat(one.current(key)).isEqualTo(anew);
  }

  @Test
  void a_token_that_was_refused_and_that_another_worker_could_use_is_not_made_anew() {
    ProviderToken token = one.current(key);
    assertThat(other.current(key)).isEqualTo(token);
    one.keepOlder(key, token, ProviderTokens.REST);
    other.keepOlder(key, token, ProviderTokens.REST);
    clock.advance(ProviderTokens.SHORTEST_LIFE.minusSeconds(1));
    assertThat(other.rest(key)).isEmpty();
    other.taken(key, 200);

    clock.advance(SOON);

    assertThat(one.rest(key)).isEmpty();
    assertThat(one.current(key)).isEqualTo(token);
  }

  @Test
  void with_no_older_token_all_rest_and_one_at_a_time_tries() {
    ProviderToken token = one.current(key);
    Duration rest = Duration.ofSeconds(45);

    assertThat(one.keepOlder(key, token, rest)).isTrue();

    clock.advance(rest.minusSeconds(1));
    assertThat(one.rest(key)).contains(Duration.ofSeconds(1));
    clock.advance(Duration.ofSeconds(1));
    assertThat(one.rest(key)).isEmpty();
    assertThat(one.rest(key)).contains(ProviderTokens.REST);
    // The message that tried the token got no answer.
    clock.advance(ProviderTokens.REST);
    assertThat(one.rest(key)).isEmpty();
    one.taken(key, 200);
    assertThat(one.rest(key)).isEmpty();
    assertThat(one.rest(key)).isEmpty();
    assertThat(one.current(key)).isEqualTo(token);
  }

  @Test
  void an_answer_from_before_the_refusal_does_not_end_the_rest() {
    one.keepOlder(key, one.current(key), ProviderTokens.REST);

    one.taken(key, 200);

    assertThat(one.rest(key)).contains(ProviderTokens.REST);
  }

  @Test
  void with_an_older_token_no_message_rests() {
    one.current(key);
    ProviderToken newer = agreedAfter(ProviderTokens.RENEWED_AFTER);

    assertThat(one.keepOlder(key, newer, ProviderTokens.REST)).isFalse();

    assertThat(one.rest(key)).isEmpty();
  }

  @Test
  void a_rest_ends_with_the_token_that_it_is_of() {
    ProviderToken refused = one.current(key);
    one.keepOlder(key, refused, ProviderTokens.REST);
    shared.held.put(key.keyId(), ProviderToken.mint(key, clock.instant().plusSeconds(5)));

    one.share();

    assertThat(one.current(key)).isNotEqualTo(refused);
    assertThat(one.rest(key)).isEmpty();
  }

  @Test
  void no_new_token_is_made_within_twenty_minutes_after_one_too_many() {
    one.current(key);
    ProviderToken newer = agreedAfter(ProviderTokens.RENEWED_AFTER);
    one.keepOlder(key, newer, ProviderTokens.REST);

    Set<ProviderToken> seen = new HashSet<>();
    for (int minute = 8; minute < 20; minute++) {
      clock.advance(minute == 8 ? Duration.ofMinutes(8) : Duration.ofMinutes(1));
      shared.held.clear();
      seen.add(one.current(key));
    }

    assertThat(seen).containsOnly(newer);
  }

  @Test
  void a_worker_that_starts_after_a_loss_in_redis_gets_the_others_token() {
    ProviderToken token = one.current(key);

    clock.advance(Duration.ofMinutes(10));
    shared.held.clear();
    one.share();

    assertThat(worker(shared).current(key)).isEqualTo(token);
  }

  @Test
  void a_worker_follows_the_others_agreement() {
    ProviderToken refused = one.current(key);
    assertThat(other.current(key)).isEqualTo(refused);
    clock.advance(Duration.ofMinutes(1));
    ProviderToken renewed = one.renewed(key, refused).orElseThrow();

    other.share();

    assertThat(other.current(key)).isEqualTo(renewed);
  }

  @Test
  void a_token_is_told_again_until_its_end() {
    ProviderToken old = one.current(key);
    clock.advance(ProviderTokens.LONGEST_LIFE.minusSeconds(1));
    shared.held.clear();

    one.share();
    assertThat(shared.held).containsValue(old);

    clock.advance(SOON);
    shared.held.clear();
    one.share();
    assertThat(shared.held).isEmpty();
  }

  /// The worker started before the others had put their token into Redis again.
  @Test
  void all_workers_return_to_the_older_token_that_one_of_them_has() {
    ProviderToken older = one.current(key);
    clock.advance(Duration.ofMinutes(1));
    shared.held.clear();
    ProviderTokens fresh = worker(shared);
    ProviderToken newer = fresh.current(key);
    one.share();
    assertThat(one.current(key)).isEqualTo(newer);

    fresh.keepOlder(key, newer, ProviderTokens.REST);
    one.keepOlder(key, newer, ProviderTokens.REST);
    fresh.share();
    one.share();

    assertThat(one.current(key)).isEqualTo(older);
    assertThat(fresh.current(key)).isEqualTo(older);
    assertThat(worker(shared).current(key)).isEqualTo(older);
  }

  @Test
  void while_redis_is_away_workers_use_their_token_to_its_end() {
    ProviderToken token = one.current(key);
    assertThat(other.current(key)).isEqualTo(token);

    shared.silent = true;
    clock.advance(ProviderTokens.RENEWED_AFTER);
    for (int minute = 50; minute < 58; minute++) {
      one.share();
      assertThat(one.current(key)).isEqualTo(token);
      assertThat(other.current(key)).isEqualTo(token);
      clock.advance(Duration.ofMinutes(1));
    }

    assertThat(one.current(key)).isNotEqualTo(token);
  }

  @Test
  void once_redis_is_back_the_token_is_renewed_for_all() {
    ProviderToken token = one.current(key);
    assertThat(other.current(key)).isEqualTo(token);
    clock.advance(ProviderTokens.RENEWED_AFTER.plusMinutes(5));
    shared.silent = true;
    assertThat(one.current(key)).isEqualTo(token);
    shared.held.clear();
    shared.silent = false;
    clock.advance(SOON);

    ProviderToken renewed = one.current(key);

    assertThat(renewed).isNotEqualTo(token);
    assertThat(other.current(key)).isEqualTo(renewed);
  }

  @Test
  void while_another_key_of_the_team_has_a_new_token_redis_is_asked_once_a_second() {
    ProviderToken token = one.current(key);
    clock.advance(ProviderTokens.RENEWED_EARLIEST.minusSeconds(1));
    var _ = worker(shared).current(another());
    clock.advance(ProviderTokens.RENEWED_AFTER.minus(ProviderTokens.RENEWED_EARLIEST));
    clock.advance(SOON);
    shared.reads.set(0);

    for (int sent = 0; sent < 5; sent++) {
      assertThat(one.current(key)).isEqualTo(token);
    }
    assertThat(shared.reads).hasValue(1);

    clock.advance(ProviderTokens.TEAM_RENEWED_EVERY);
    assertThat(one.current(key)).isNotEqualTo(token);
  }

  @Test
  void in_a_team_with_another_key_a_token_is_renewed_early() {
    ProviderToken token = one.current(key);
    ProviderToken ofAnother = one.current(another());

    clock.advance(ProviderTokens.RENEWED_EARLIEST);

    assertThat(one.current(key)).isNotEqualTo(token);
    assertThat(one.current(another())).isEqualTo(ofAnother);
    clock.advance(ProviderTokens.TEAM_RENEWED_EVERY);
    assertThat(one.current(another())).isNotEqualTo(ofAnother);
  }

  @Test
  void an_early_renewal_lets_a_key_go_first_that_has_no_accepted_token() {
    ProviderToken token = one.current(key);
    ProviderToken refused = one.current(another());
    clock.advance(ProviderTokens.RENEWED_EARLIEST);
    one.keepOlder(another(), refused, ProviderTokens.REST);

    assertThat(one.current(key)).isEqualTo(token);

    clock.advance(ProviderTokens.RENEWED_AFTER.minus(ProviderTokens.RENEWED_EARLIEST));
    assertThat(one.current(key)).isNotEqualTo(token);
  }

  @Test
  void while_one_thread_waits_for_redis_the_others_use_the_present_token() throws Exception {
    ProviderToken token = one.current(key);
    clock.advance(ProviderTokens.RENEWED_AFTER);
    CompletableFuture<ProviderToken> another = new CompletableFuture<>();
    shared.meanwhile =
        () -> another.completeAsync(() -> one.current(key)).orTimeout(10, TimeUnit.SECONDS).join();

    assertThat(one.current(key)).isNotEqualTo(token);

    assertThat(another.get()).isEqualTo(token);
    assertThat(shared.reads).hasValue(2);
  }

  /// Of the same team.
  private ApnsKey another() {
    return new ApnsKey(
        key.teamId(), "KEY0000002", "com.example", (ECPrivateKey) pair.getPrivate(), "f");
  }

  /// The first worker's token when so much later Redis has none.
  private ProviderToken agreedAfter(Duration life) {
    clock.advance(life);
    shared.held.clear();
    return one.current(key);
  }

  private ProviderToken renewedAfterAMinute(ProviderTokens tokens) {
    ProviderToken first = tokens.current(key);
    clock.advance(Duration.ofMinutes(1));
    return tokens.renewed(key, first).orElseThrow();
  }

  private static JsonNode json(String base64) {
    return JsonMapper.shared().readTree(Base64.getUrlDecoder().decode(base64));
  }

  private static KeyPair keyPair() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      return generator.generateKeyPair();
    } catch (java.security.GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}
