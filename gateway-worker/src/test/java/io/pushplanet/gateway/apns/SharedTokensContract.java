package io.pushplanet.gateway.apns;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.testing.Eventually;
import io.pushplanet.gateway.apns.SharedTokens.Known;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.security.KeyPairGenerator;
import java.security.interfaces.ECPrivateKey;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// The contract of every kind of shared tokens.
abstract class SharedTokensContract {
  private static final Duration LIFE = Duration.ofMinutes(1);

  private final Instant now = Clock.systemUTC().instant().truncatedTo(ChronoUnit.SECONDS);
  private SharedTokens shared;
  private ApnsKey key;
  private ProviderToken first;
  private ProviderToken second;

  abstract SharedTokens shared();

  /// Tokens that nothing can be shared with.
  abstract SharedTokens away();

  @BeforeEach
  void make() throws Exception {
    shared = shared();
    key = key();
    first = ProviderToken.mint(key, now);
    second = ProviderToken.mint(key, now.plusSeconds(1));
  }

  /// Of a team of its own.
  static ApnsKey key() throws Exception {
    return key("TEAM-" + UUID.randomUUID());
  }

  static ApnsKey key(String team) throws Exception {
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(256);
    return new ApnsKey(
        team,
        "KEY-" + UUID.randomUUID(),
        "com.example",
        (ECPrivateKey) keys.generateKeyPair().getPrivate(),
        "f");
  }

  @Test
  void the_first_offer_stands() {
    assertThat(shared.current(key)).isEqualTo(new Known.None());

    assertThat(shared.agree(key, first, null, LIFE)).contains(first);
    assertThat(shared.agree(key, second, null, LIFE)).contains(first);

    assertThat(shared.current(key)).isEqualTo(new Known.Agreed(first));
  }

  @Test
  void a_refused_token_is_replaced_once() throws Exception {
    ProviderToken third = ProviderToken.mint(key, now.plusSeconds(2));
    var _ = shared.agree(key, first, null, LIFE);

    assertThat(shared.agree(key, second, first, LIFE)).contains(second);
    assertThat(shared.agree(key, third, first, LIFE)).contains(second);
  }

  @Test
  void a_renewal_replaces_the_former_token_and_is_the_teams() {
    assertThat(shared.renew(key, first, null, LIFE, null)).contains(first);
    assertThat(shared.renew(key, second, first, LIFE, null)).contains(second);

    assertThat(shared.current(key)).isEqualTo(new Known.Agreed(second));
    assertThat(shared.team(key).renewal(key)).contains(second.issuedAt());
    assertThat(shared.team(key).hasOthersThan(key)).isFalse();
  }

  @Test
  void a_renewal_waits_while_another_key_of_its_team_has_a_new_token() throws Exception {
    ApnsKey another = key(key.teamId());
    ProviderToken third = ProviderToken.mint(key, now.plusSeconds(2));
    var _ = shared.renew(key, first, null, LIFE, null);
    var _ = shared.renew(another, second, null, LIFE, null);

    assertThat(shared.renew(key, third, first, LIFE, first.issuedAt())).isEmpty();
    assertThat(shared.current(key)).isEqualTo(new Known.Agreed(first));
    assertThat(shared.renew(key, third, first, LIFE, second.issuedAt())).contains(third);
    assertThat(shared.team(another).hasOthersThan(another)).isTrue();
  }

  @Test
  void a_token_of_another_worker_is_used_instead_of_a_renewal() {
    var _ = shared.renew(key, second, null, LIFE, null);

    assertThat(shared.renew(key, first, null, LIFE, now.minusSeconds(60))).contains(second);
  }

  @Test
  void a_time_of_a_clock_that_was_far_ahead_delays_no_renewal() {
    ProviderToken ofTheFuture = ProviderToken.mint(key, now.plus(Duration.ofHours(2)));
    var _ = shared.renew(key, ofTheFuture, null, LIFE, null);

    assertThat(shared.renew(key, first, ofTheFuture, LIFE, now.minusSeconds(60))).contains(first);
  }

  @Test
  void a_key_that_had_no_new_token_for_a_week_counts_no_more() throws Exception {
    ApnsKey another = key(key.teamId());
    ProviderToken ofLastWeek =
        ProviderToken.mint(another, now.minus(Team.REMEMBERED).minusSeconds(1));
    var _ = shared.renew(another, ofLastWeek, null, LIFE, null);

    var _ = shared.renew(key, first, null, LIFE, null);

    assertThat(shared.team(key).hasOthersThan(key)).isFalse();
  }

  @Test
  void the_time_of_a_token_that_is_told_again_is_known_again() {
    var _ = shared.agree(key, first, null, LIFE);
    assertThat(shared.team(key).renewal(key)).contains(first.issuedAt());

    var _ = shared.agree(key, second, first, LIFE);
    assertThat(shared.team(key).renewal(key)).contains(first.issuedAt());
  }

  @Test
  void a_key_waits_until_its_token_is_accepted() throws Exception {
    ApnsKey another = key(key.teamId());
    Instant later = now.plusSeconds(30);
    var _ = shared.renew(key, first, null, LIFE, null);

    shared.waits(key, now);
    assertThat(shared.team(another).anotherWaits(another, now)).isTrue();
    assertThat(shared.team(key).anotherWaits(key, now)).isFalse();

    shared.accepted(key, later);
    assertThat(shared.team(another).anotherWaits(another, now)).isFalse();
    assertThat(shared.team(another).renewal(key)).contains(later);
  }

  @Test
  void a_token_is_shared_for_its_life() {
    var _ = shared.agree(key, first, null, Duration.ofMillis(50));

    Eventually.within(LIFE, () -> assertThat(shared.current(key)).isEqualTo(new Known.None()));
    assertThat(shared.agree(key, second, null, LIFE)).contains(second);
  }

  @Test
  void tokens_come_in_the_order_of_their_keys() throws Exception {
    ApnsKey unknown = key();
    ApnsKey other = key();
    var _ = shared.agree(key, first, null, LIFE);
    var _ = shared.agree(other, second, null, LIFE);

    assertThat(shared.current(List.of(other, unknown, key)))
        .containsExactly(Optional.of(second), Optional.empty(), Optional.of(first));
    assertThat(shared.current(List.of())).isEmpty();
  }

  @Test
  void nothing_is_shared_while_the_others_cannot_be_asked() {
    SharedTokens away = away();

    away.waits(key, now);
    away.accepted(key, now);

    assertThat(away.agree(key, first, null, LIFE)).isEmpty();
    assertThat(away.renew(key, first, null, LIFE, null)).isEmpty();
    assertThat(away.team(key)).isEqualTo(Team.UNKNOWN);
    assertThat(away.current(key)).isEqualTo(new Known.Silent());
    assertThat(away.current(List.of(key))).isEmpty();
  }
}
