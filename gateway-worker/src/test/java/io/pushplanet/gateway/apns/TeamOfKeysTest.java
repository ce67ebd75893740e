package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Keys of one team at two workers, for hours of virtual time, against an APNs that counts the new
/// tokens of a team, whichever key signed them, as Apple's staff say
/// (https://developer.apple.com/forums/thread/702056).
class TeamOfKeysTest {
  private static final Duration STEP = Duration.ofSeconds(5);
  private static final Duration IN_ALL = Duration.ofHours(6);

  private final MutableClock clock = MutableClock.started();
  private final Instant start = clock.instant();
  private final LocalTokens shared = new LocalTokens(clock);
  private final List<ProviderTokens> workers = List.of(worker(), worker());
  private final Set<Trouble> troubles = new LinkedHashSet<>();

  /// Messages of that minute were not accepted at once.
  private record Trouble(long minute, String key, String what) {}

  private ProviderTokens worker() {
    return new ProviderTokens(
        shared, clock, new ProviderMetrics(new SimpleMeterRegistry(), Channel.APNS));
  }

  @ParameterizedTest
  @CsvSource({"0, false", "0, true", "5, false", "15, false", "10, true", "20, false", "30, true"})
  void two_keys_settle_into_turns(int secondAfterMinutes, boolean refusedCount) throws Exception {
    Apns apns = new Apns(refusedCount);

    hours(apns, List.of(Duration.ZERO, Duration.ofMinutes(secondAfterMinutes)));

    assertThat(troubles)
        .allMatch(it -> it.key().equals("KEY1") && it.minute() <= secondAfterMinutes + 20);
    assertThat(troubles.isEmpty()).isEqualTo(secondAfterMinutes >= 20);
  }

  /// The second key's first token is accepted when it is 19 minutes old, or delays the first key's
  /// renewal by 19 minutes.
  @ParameterizedTest
  @CsvSource({"1, false", "19, true"})
  void in_the_worst_case_a_key_rests_three_minutes_once(
      int secondAfterMinutes, boolean refusedCount) throws Exception {
    hours(new Apns(refusedCount), List.of(Duration.ZERO, Duration.ofMinutes(secondAfterMinutes)));

    assertThat(after(secondAfterMinutes + 20))
        .allMatch(it -> it.what().equals("rests"))
        .hasSizeLessThanOrEqualTo(3);
  }

  /// Three times 20 minutes are an hour, and a token is used for 58 minutes of it.
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void of_three_keys_each_rests_some_minutes_of_an_hour(boolean refusedCount) throws Exception {
    hours(new Apns(refusedCount), List.of(Duration.ZERO, Duration.ZERO, Duration.ZERO));

    Set<Trouble> settled = after(41);
    assertThat(settled).allMatch(it -> it.what().equals("rests"));
    for (String key : List.of("KEY0", "KEY1", "KEY2")) {
      assertThat(settled.stream().filter(it -> it.key().equals(key)))
          .hasSizeLessThanOrEqualTo(5 * (int) IN_ALL.toHours());
    }
  }

  private Set<Trouble> after(int minute) {
    return troubles.stream().filter(it -> it.minute() > minute).collect(Collectors.toSet());
  }

  /// Such as the sandbox's key, which a developer uses now and then.
  @Test
  void a_key_that_is_used_now_and_then_never_delays_the_other() throws Exception {
    Apns apns = new Apns(false);
    ApnsKey busy = key("KEY0");
    ApnsKey idle = key("KEY1");
    // Known from before.
    shared.renew(
        idle, ProviderToken.mint(idle, start.minus(Duration.ofHours(3))), null, STEP, null);

    for (int second = 0; clock.instant().isBefore(start.plus(Duration.ofHours(24))); second += 5) {
      boolean used = second % Duration.ofMinutes(97).toSeconds() < 60;
      for (ProviderTokens worker : workers) {
        worker.share();
        push(apns, worker, busy);
        if (used) {
          push(apns, worker, idle);
        }
      }
      clock.advance(STEP);
    }

    assertThat(troubles).noneMatch(it -> it.key().equals("KEY0") && it.minute() > 20);
  }

  private void hours(Apns apns, List<Duration> begins) throws Exception {
    List<ApnsKey> keys = new ArrayList<>();
    for (int i = 0; i < begins.size(); i++) {
      keys.add(key("KEY" + i));
    }
    while (clock.instant().isBefore(start.plus(IN_ALL))) {
      Duration at = Duration.between(start, clock.instant());
      for (ProviderTokens worker : workers) {
        worker.share();
        IntStream.range(0, begins.size())
            .filter(i -> at.compareTo(begins.get(i)) >= 0)
            .forEach(i -> push(apns, worker, keys.get(i)));
      }
      clock.advance(STEP);
    }
  }

  /// Sends with the present token, and reacts to a refusal as [ApnsProvider] does.
  private void push(Apns apns, ProviderTokens worker, ApnsKey key) {
    if (worker.rest(key).isPresent()) {
      trouble(key, "rests");
      return;
    }
    ProviderToken token = worker.current(key);
    Answer answer = apns.answer(token);
    switch (answer) {
      case ACCEPTED -> worker.taken(key, 200);
      case EXPIRED -> {
        var _ = worker.renewed(key, token);
      }
      case TOO_MANY -> worker.keepOlder(key, token, ProviderTokens.REST);
    }
    if (answer != Answer.ACCEPTED) {
      trouble(key, answer.toString());
    }
  }

  private void trouble(ApnsKey key, String what) {
    long minute = Duration.between(start, clock.instant()).toMinutes();
    troubles.add(new Trouble(minute, key.keyId(), what));
  }

  private enum Answer {
    ACCEPTED,
    EXPIRED,
    TOO_MANY
  }

  private final class Apns {
    private final boolean refusedCount;
    private final Set<ProviderToken> accepted = new HashSet<>();
    private final Set<ProviderToken> refused = new HashSet<>();
    private Instant counted = Instant.MIN;

    /// @param refusedCount whether a token that it refuses counts as a new one, once
    Apns(boolean refusedCount) {
      this.refusedCount = refusedCount;
    }

    Answer answer(ProviderToken token) {
      Instant now = clock.instant();
      if (now.isAfter(token.issuedAt().plus(Duration.ofMinutes(60)))) {
        return Answer.EXPIRED;
      }
      if (accepted.contains(token)) {
        return Answer.ACCEPTED;
      }
      if (now.isBefore(counted.plus(ProviderTokens.SHORTEST_LIFE))) {
        counted = refused.add(token) && refusedCount ? now : counted;
        return Answer.TOO_MANY;
      }
      counted = now;
      accepted.add(token);
      return Answer.ACCEPTED;
    }
  }

  private static ApnsKey key(String id) throws Exception {
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(256);
    return new ApnsKey(
        "TEAM000001", id, "com.example", (ECPrivateKey) keys.generateKeyPair().getPrivate(), "f");
  }
}
