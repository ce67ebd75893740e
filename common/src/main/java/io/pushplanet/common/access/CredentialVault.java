package io.pushplanet.common.access;

import com.google.crypto.tink.AccessesPartialKey;
import com.google.crypto.tink.Aead;
import com.google.crypto.tink.InsecureSecretKeyAccess;
import com.google.crypto.tink.KeysetHandle;
import com.google.crypto.tink.RegistryConfiguration;
import com.google.crypto.tink.aead.AeadConfig;
import com.google.crypto.tink.aead.AesGcmKey;
import com.google.crypto.tink.aead.AesGcmParameters;
import com.google.crypto.tink.subtle.AesGcmJce;
import com.google.crypto.tink.util.SecretBytes;
import io.pushplanet.common.message.AppId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/// Encrypts provider credentials at rest with AES-256-GCM (Tink). It is an envelope encryption:
/// every secret has a data key of its own, which is encrypted under a key derived from the
/// [MasterKey]. The app, provider, environment and row are authenticated as well, so that a row
/// copied to another tenant, or over another row, does not decrypt. Thread-safe.
///
/// The master key may change: the current one encrypts, former ones still decrypt, and [#resealed]
/// re-encrypts a secret under the current one. A Tink keyset holds all of them; its prefix tells
/// which one wraps a data key.
///
/// Form: one byte for the version, the length of the wrapped data key (one byte), the wrapped data
/// key, the encrypted secret. Version 1 has no keyset, version 2 is bound to no row, version 3 to
/// its row.
public final class CredentialVault {
  private static final byte ONE_KEY = 1;
  private static final byte ROWLESS = 2;
  private static final byte BOUND_TO_ROW = 3;
  private static final int DATA_KEY_BYTES = 32;
  private static final String PURPOSE = "credential-vault";
  private static final int NO_ROW = 0;

  private final Aead keyEncryption;
  private final List<AesGcmJce> withoutKeyset = new ArrayList<>();
  private final int currentKey;
  private final SecureRandom random;

  public CredentialVault(MasterKey masterKey, SecureRandom random) {
    this.random = random;
    this.currentKey = id(masterKey);
    try {
      AeadConfig.register();
      KeysetHandle.Builder keyset = KeysetHandle.newBuilder();
      Set<Integer> known = new HashSet<>();
      for (MasterKey key : masterKey.currentAndFormer()) {
        withoutKeyset.add(new AesGcmJce(key.derive(PURPOSE)));
        if (known.add(id(key))) {
          KeysetHandle.Builder.Entry entry = KeysetHandle.importKey(keyEncryption(key));
          keyset.addEntry(known.size() == 1 ? entry.makePrimary() : entry);
        }
      }
      this.keyEncryption = keyset.build().getPrimitive(RegistryConfiguration.get(), Aead.class);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-256-GCM is not available", e);
    }
  }

  @AccessesPartialKey
  private static AesGcmKey keyEncryption(MasterKey key) throws GeneralSecurityException {
    return AesGcmKey.builder()
        .setParameters(
            AesGcmParameters.builder()
                .setKeySizeBytes(32)
                .setIvSizeBytes(12)
                .setTagSizeBytes(16)
                .setVariant(AesGcmParameters.Variant.TINK)
                .build())
        .setKeyBytes(SecretBytes.copyFrom(key.derive(PURPOSE), InsecureSecretKeyAccess.get()))
        .setIdRequirement(id(key))
        .build();
  }

  private static int id(MasterKey key) {
    return ByteBuffer.wrap(key.derive(PURPOSE + "-id")).getInt();
  }

  /// For secrets outside the table `credentials`.
  public byte[] encrypt(AppId app, String provider, String environment, byte[] secret) {
    return sealed(ROWLESS, boundTo(app, provider, environment, NO_ROW, ROWLESS), secret);
  }

  /// @param row the row's unique id
  public byte[] encrypt(AppId app, String provider, String environment, long row, byte[] secret) {
    return sealed(BOUND_TO_ROW, boundTo(app, provider, environment, row, BOUND_TO_ROW), secret);
  }

  private byte[] sealed(byte version, byte[] bound, byte[] secret) {
    byte[] dataKey = new byte[DATA_KEY_BYTES];
    random.nextBytes(dataKey);
    try {
      byte[] wrapped = keyEncryption.encrypt(dataKey, bound);
      byte[] sealed = new AesGcmJce(dataKey).encrypt(secret, bound);
      byte[] stored = new byte[2 + wrapped.length + sealed.length];
      stored[0] = version;
      stored[1] = (byte) wrapped.length;
      System.arraycopy(wrapped, 0, stored, 2, wrapped.length);
      System.arraycopy(sealed, 0, stored, 2 + wrapped.length, sealed.length);
      return stored;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a credential could not be encrypted", e);
    } finally {
      Arrays.fill(dataKey, (byte) 0);
    }
  }

  /// @throws CredentialUnreadable when no known master key decrypts it, or its bytes were changed
  public byte[] decrypt(AppId app, String provider, String environment, byte[] stored) {
    return decrypt(app, provider, environment, NO_ROW, stored);
  }

  /// @param row the row's id
  /// @throws CredentialUnreadable when no known master key decrypts it, the row was moved or its
  ///     bytes were changed
  public byte[] decrypt(AppId app, String provider, String environment, long row, byte[] stored) {
    if (stored.length < 2 || stored.length < 2 + (stored[1] & 0xff)) {
      throw new CredentialUnreadable("not a sealed credential", null);
    }
    byte version = stored[0];
    int sealedFrom = 2 + (stored[1] & 0xff);
    byte[] bound = boundTo(app, provider, environment, row, version);
    byte[] wrapped = Arrays.copyOfRange(stored, 2, sealedFrom);
    byte[] sealed = Arrays.copyOfRange(stored, sealedFrom, stored.length);
    try {
      return new AesGcmJce(dataKey(version, wrapped, bound)).decrypt(sealed, bound);
    } catch (GeneralSecurityException e) {
      throw new CredentialUnreadable(
          "the credential does not open with this pushplanet.master-key", e);
    }
  }

  private byte[] dataKey(byte version, byte[] wrapped, byte[] bound)
      throws GeneralSecurityException {
    if (version == ROWLESS || version == BOUND_TO_ROW) {
      return keyEncryption.decrypt(wrapped, bound);
    }
    if (version != ONE_KEY) {
      throw new CredentialUnreadable("not a sealed credential of version 1 to 3", null);
    }
    GeneralSecurityException refusal = new GeneralSecurityException("no key");
    for (AesGcmJce key : withoutKeyset) {
      try {
        return key.decrypt(wrapped, bound);
      } catch (GeneralSecurityException e) {
        refusal = e;
      }
    }
    throw refusal;
  }

  /// The same secret, encrypted with the current master key, a new data key and its row's id.
  public byte[] resealed(AppId app, String provider, String environment, long row, byte[] stored) {
    byte[] secret = decrypt(app, provider, environment, row, stored);
    try {
      return encrypt(app, provider, environment, row, secret);
    } finally {
      Arrays.fill(secret, (byte) 0);
    }
  }

  /// A name for the current master key that reveals nothing of it: secrets encrypted now carry this
  /// name.
  public String currentKeyId() {
    return "%08x".formatted(currentKey);
  }

  /// The version is authenticated as well, so that a secret cannot pass for an older form that is
  /// bound to less.
  private static byte[] boundTo(
      AppId app, String provider, String environment, long row, byte version) {
    String known = app.value() + "\0" + provider + "\0" + environment;
    String bound =
        switch (version) {
          case ROWLESS -> known + "\0" + version;
          case BOUND_TO_ROW -> known + "\0" + version + "\0" + row;
          default -> known;
        };
    return bound.getBytes(StandardCharsets.UTF_8);
  }
}
