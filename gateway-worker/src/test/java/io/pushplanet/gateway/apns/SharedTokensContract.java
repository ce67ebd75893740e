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

  static ApnsKey key() throws Exception {
    KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
    keys.initialize(256);
    return new ApnsKey(
        "TEAM000007",
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

    assertThat(away.agree(key, first, null, LIFE)).isEmpty();
    assertThat(away.current(key)).isEqualTo(new Known.Silent());
    assertThat(away.current(List.of(key))).isEmpty();
  }
}
