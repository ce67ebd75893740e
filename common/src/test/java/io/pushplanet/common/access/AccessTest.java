package io.pushplanet.common.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.crypto.tink.subtle.AesGcmJce;
import io.pushplanet.common.message.AppId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class AccessTest {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final AppId SHOP = new AppId("shop");
  private static final byte[] SECRET =
      "-----BEGIN PRIVATE KEY-----".getBytes(StandardCharsets.UTF_8);

  @Test
  void a_key_is_recognized_only_by_its_hash() {
    ApiKey key = ApiKey.generate(RANDOM);

    ApiKey presented = ApiKey.parse(key.text().reveal()).orElseThrow();

    assertThat(presented.id()).isEqualTo(key.id());
    assertThat(presented.matches(key.hash())).isTrue();
    assertThat(presented.matches(ApiKey.generate(RANDOM).hash())).isFalse();
  }

  @Test
  void a_text_in_another_form_is_no_key() {
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
  void a_credential_sealed_for_one_row_does_not_open_in_another_of_the_same_app() {
    CredentialVault vault = vault();
    byte[] sealed = vault.encrypt(SHOP, "apns", "any", 7, SECRET);

    assertThat(vault.decrypt(SHOP, "apns", "any", 7, sealed)).isEqualTo(SECRET);
    assertThatThrownBy(() -> vault.decrypt(SHOP, "apns", "any", 8, sealed))
        .isInstanceOf(CredentialUnreadable.class);
    assertThatThrownBy(() -> vault.decrypt(SHOP, "apns", "any", sealed))
        .isInstanceOf(CredentialUnreadable.class);
  }

  @Test
  void a_secret_of_a_former_master_key_opens_until_it_is_resealed() {
    MasterKey old = masterKey();
    MasterKey fresh = masterKey();
    byte[] sealed = new CredentialVault(old, RANDOM).encrypt(SHOP, "apns", "any", 7, SECRET);
    CredentialVault rotating = new CredentialVault(fresh.accepting(List.of(old)), RANDOM);

    byte[] resealed = rotating.resealed(SHOP, "apns", "any", 7, sealed);

    CredentialVault after = new CredentialVault(fresh, RANDOM);
    assertThat(rotating.decrypt(SHOP, "apns", "any", 7, sealed)).isEqualTo(SECRET);
    assertThat(after.decrypt(SHOP, "apns", "any", 7, resealed)).isEqualTo(SECRET);
    assertThat(after.currentKeyId()).isEqualTo(rotating.currentKeyId());
    assertThatThrownBy(() -> after.decrypt(SHOP, "apns", "any", 7, sealed))
        .isInstanceOf(CredentialUnreadable.class);
    assertThatThrownBy(
            () -> new CredentialVault(old, RANDOM).decrypt(SHOP, "apns", "any", 7, resealed))
        .isInstanceOf(CredentialUnreadable.class);
  }

  /// A process that still uses the old key reads secrets under the new one, if it knew the new key
  /// before.
  @Test
  void the_next_key_may_be_known_before_it_is_used() {
    MasterKey old = masterKey();
    MasterKey coming = masterKey();
    CredentialVault notYet = new CredentialVault(old.accepting(List.of(coming)), RANDOM);

    byte[] sealed = new CredentialVault(coming, RANDOM).encrypt(SHOP, "fcm", "production", SECRET);

    assertThat(notYet.decrypt(SHOP, "fcm", "production", sealed)).isEqualTo(SECRET);
  }

  /// The first release's form: one key, no keyset, bound to no row.
  @Test
  void the_first_form_still_opens_and_is_resealed_in_the_newest() throws Exception {
    MasterKey old = masterKey();
    byte[] bound = "shop\0apns\0any".getBytes(StandardCharsets.UTF_8);
    byte[] dataKey = new byte[32];
    RANDOM.nextBytes(dataKey);
    byte[] wrapped = new AesGcmJce(old.derive("credential-vault")).encrypt(dataKey, bound);
    byte[] secret = new AesGcmJce(dataKey).encrypt(SECRET, bound);
    byte[] stored =
        ByteBuffer.allocate(2 + wrapped.length + secret.length)
            .put((byte) 1)
            .put((byte) wrapped.length)
            .put(wrapped)
            .put(secret)
            .array();
    CredentialVault vault = new CredentialVault(masterKey().accepting(List.of(old)), RANDOM);

    assertThat(vault.decrypt(SHOP, "apns", "any", 7, stored)).isEqualTo(SECRET);
    assertThat(vault.resealed(SHOP, "apns", "any", 7, stored)[0]).isEqualTo((byte) 3);
  }

  /// Each secret is tried with four other tenants' names and rows at random: all thousand by
  /// thousand pairs would take minutes.
  @Test
  void none_of_a_thousand_tenants_opens_anothers_secret() {
    CredentialVault vault = vault();
    List<byte[]> sealed = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      sealed.add(
          vault.encrypt(
              tenant(i),
              "apns",
              "production",
              i,
              ("secret of " + i).getBytes(StandardCharsets.UTF_8)));
    }
    SplittableRandom dice = new SplittableRandom(4);
    for (int i = 0; i < 1_000; i++) {
      byte[] mine = sealed.get(i);
      assertThat(vault.decrypt(tenant(i), "apns", "production", i, mine))
          .asString(StandardCharsets.UTF_8)
          .isEqualTo("secret of " + i);
      for (int tries = 0; tries < 4; tries++) {
        int other = (i + 1 + dice.nextInt(999)) % 1_000;
        int row = dice.nextBoolean() ? i : other;
        assertThatThrownBy(() -> vault.decrypt(tenant(other), "apns", "production", row, mine))
            .isInstanceOf(CredentialUnreadable.class);
      }
    }
  }

  private static AppId tenant(int number) {
    return new AppId("tenant-" + number);
  }

  @Test
  void a_master_key_of_the_wrong_length_says_how_to_make_one() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> MasterKey.parse("c2hvcnQ="))
        .withMessageContaining("openssl rand -base64 32");
  }

  private static CredentialVault vault() {
    return new CredentialVault(masterKey(), RANDOM);
  }

  private static MasterKey masterKey() {
    return MasterKey.parse(MasterKey.generate(RANDOM));
  }
}
