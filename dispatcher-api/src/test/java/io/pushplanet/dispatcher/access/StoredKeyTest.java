package io.pushplanet.dispatcher.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.Scope;
import java.time.Clock;
import java.time.Instant;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredKeyTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "send", "devices", "devices,read", "send,devices,read", "read,send"})
  void a_key_allows_exactly_its_scopes(String scopes) {
    StoredKey key = new StoredKey("k", "shop", new byte[32], scopes, null);

    Set<Scope> may = EnumSet.noneOf(Scope.class);
    for (Scope scope : Scope.values()) {
      if (key.may(scope)) {
        may.add(scope);
      }
    }

    assertThat(may).isEqualTo(Scope.parse(scopes));
  }

  @Test
  void a_key_that_a_faster_clock_revoked_is_revoked() {
    Instant ahead = Clock.systemUTC().instant().plusSeconds(60);

    assertThat(new StoredKey("k", "shop", new byte[32], "send", ahead).isRevoked()).isTrue();
    assertThat(new StoredKey("k", "shop", new byte[32], "send", null).isRevoked()).isFalse();
  }
}
