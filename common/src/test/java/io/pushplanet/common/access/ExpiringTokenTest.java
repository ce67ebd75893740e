package io.pushplanet.common.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.pushplanet.common.access.ExpiringToken.Verdict;
import io.pushplanet.common.testing.MutableClock;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpiringTokenTest {
  private static final String SUBJECT = "subject";

  private final MasterKey key = masterKey();
  private final MutableClock clock = MutableClock.started();
  private final ExpiringToken tokens = new ExpiringToken(key, "purpose", clock);
  private final long ends = clock.instant().getEpochSecond() + 60;
  private final String token = tokens.mint(SUBJECT, ends);

  @Test
  void a_token_is_valid_for_its_subject_until_the_second_of_its_end() {
    clock.advance(Duration.ofMillis(59_999));
    assertThat(tokens.verify(SUBJECT, token)).isEqualTo(new Verdict.Valid(ends));
    assertThat(tokens.verify("other", token)).isEqualTo(new Verdict.Invalid());

    clock.advance(Duration.ofMillis(1));

    assertThat(tokens.verify(SUBJECT, token)).isEqualTo(new Verdict.Expired());
    assertThat(tokens.verify("other", token)).isEqualTo(new Verdict.Invalid());
  }

  @Test
  void a_token_of_another_purpose_or_installation_is_invalid() {
    assertThat(new ExpiringToken(key, "another", clock).verify(SUBJECT, token))
        .isEqualTo(new Verdict.Invalid());
    assertThat(new ExpiringToken(masterKey(), "purpose", clock).verify(SUBJECT, token))
        .isEqualTo(new Verdict.Invalid());
  }

  @Test
  void a_token_of_a_former_master_key_is_valid_and_none_is_made_with_it() {
    MasterKey next = masterKey();
    var rotating = new ExpiringToken(next.accepting(List.of(key)), "purpose", clock);

    assertThat(rotating.verify(SUBJECT, token)).isEqualTo(new Verdict.Valid(ends));
    assertThat(rotating.mint(SUBJECT, ends))
        .isEqualTo(new ExpiringToken(next, "purpose", clock).mint(SUBJECT, ends));
  }

  @Test
  void the_end_cannot_be_moved() {
    String[] parts = token.split("\\.");
    String moved = parts[0] + "." + (ends + 1) + "." + parts[2];

    assertThat(tokens.verify(SUBJECT, moved)).isEqualTo(new Verdict.Invalid());
  }

  @Test
  void a_signature_has_one_spelling() {
    assertThat(tokens.verify(SUBJECT, token + "=")).isEqualTo(new Verdict.Invalid());
    assertThat(tokens.verify(SUBJECT, token + ".")).isEqualTo(new Verdict.Invalid());
    assertThat(tokens.verify(SUBJECT, token.substring(0, token.length() - 1)))
        .isEqualTo(new Verdict.Invalid());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ".",
        "v1",
        "v1.",
        "v1.1",
        "v1..",
        "v1..x",
        "v1.99999999999999999999.x",
        "v1.9999999999999.x",
        "v2.1.x",
        "v1.-1.x",
        "v1.+1.x",
        "v1.1 .x",
        "v1.\u0661.x",
        "v1.1.x.y"
      })
  void rubbish_is_invalid(String rubbish) {
    assertThat(tokens.verify(SUBJECT, rubbish)).isEqualTo(new Verdict.Invalid());
  }

  private static MasterKey masterKey() {
    return MasterKey.parse(MasterKey.generate(new SecureRandom()));
  }
}
