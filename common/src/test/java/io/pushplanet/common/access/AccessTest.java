package io.pushplanet.common.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.pushplanet.common.message.AppId;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Set;
import org.junit.jupiter.api.Test;

class AccessTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final AppId SHOP = new AppId("shop");
  private static final byte[] SECRET =
      "-----BEGIN PRIVATE KEY-----".getBytes(StandardCharsets.UTF_8);

  @Test
  void a_key_is_known_again_by_its_hash_only() {
    ApiKey key = ApiKey.generate(RANDOM);

    ApiKey presented = ApiKey.parse(key.text().reveal()).orElseThrow();

    assertThat(presented.id()).isEqualTo(key.id());
    assertThat(presented.matches(key.hash())).isTrue();
    assertThat(presented.matches(ApiKey.generate(RANDOM).hash())).isFalse();
  }

  @Test
  void what_cannot_be_a_key_is_none() {
    assertThat(ApiKey.parse("pp_short_x")).isEmpty();
    assertThat(ApiKey.parse("")).isEmpty();
  }

  @Test
  void a_key_does_not_show_itself() {
    ApiKey key = ApiKey.generate(RANDOM);

    assertThat(key.toString()).doesNotContain(key.text().reveal());
  }

  @Test
  void scopes_are_written_as_words() {
    assertThat(Scope.format(Set.of(Scope.READ, Scope.SEND))).isEqualTo("send,read");
    assertThat(Scope.parse("send, read")).containsExactlyInAnyOrder(Scope.SEND, Scope.READ);
  }

  @Test
  void a_sealed_credential_opens_for_its_own_app_only() {
    CredentialVault vault = vault();
    byte[] sealed = vault.encrypt(SHOP, "apns", "any", SECRET);

    assertThat(vault.decrypt(SHOP, "apns", "any", sealed)).isEqualTo(SECRET);
    assertThatThrownBy(() -> vault.decrypt(new AppId("bank"), "apns", "any", sealed))
        .isInstanceOf(CredentialUnreadable.class);
    assertThatThrownBy(() -> vault.decrypt(SHOP, "apns", "sandbox", sealed))
        .isInstanceOf(CredentialUnreadable.class);
  }

  @Test
  void a_sealed_credential_does_not_open_with_another_master_key() {
    byte[] sealed = vault().encrypt(SHOP, "apns", "any", SECRET);

    assertThatThrownBy(() -> vault().decrypt(SHOP, "apns", "any", sealed))
        .isInstanceOf(CredentialUnreadable.class);
  }

  @Test
  void a_changed_byte_is_noticed() {
    CredentialVault vault = vault();
    byte[] sealed = vault.encrypt(SHOP, "apns", "any", SECRET);
    for (int i = 0; i < sealed.length; i++) {
      byte[] changed = sealed.clone();
      changed[i] ^= 1;

      assertThatThrownBy(() -> vault.decrypt(SHOP, "apns", "any", changed))
          .isInstanceOf(CredentialUnreadable.class);
    }
  }

  @Test
  void a_master_key_of_the_wrong_length_says_how_to_make_one() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MasterKey.parse("c2hvcnQ="))
        .withMessageContaining("openssl rand -base64 32");
  }

  private static CredentialVault vault() {
    return new CredentialVault(MasterKey.parse(MasterKey.generate(RANDOM)), RANDOM);
  }
}
