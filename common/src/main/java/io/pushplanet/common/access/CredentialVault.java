package io.pushplanet.common.access;

import com.google.crypto.tink.subtle.AesGcmJce;
import io.pushplanet.common.message.AppId;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;

/// Encrypts provider credentials at rest with AES-256-GCM (Tink). Envelope: every secret has a data key of its own, and the
/// data key is encrypted under a key derived from the [MasterKey]. The app, provider and environment are authenticated
/// with it, so that a row copied to another tenant does not open. Thread-safe.
///
/// Form: one version byte (1), the length of the wrapped data key (one byte), the wrapped data key, the encrypted secret.
public final class CredentialVault {
  private static final byte VERSION = 1;
  private static final int DATA_KEY_BYTES = 32;

  private final AesGcmJce keyEncryption;
  private final SecureRandom random;

  public CredentialVault(MasterKey masterKey, SecureRandom random) {
    try {
      this.keyEncryption = new AesGcmJce(masterKey.derive("credential-vault"));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-256-GCM is not available", e);
    }
    this.random = random;
  }

  public byte[] encrypt(AppId app, String provider, String environment, byte[] secret) {
    byte[] dataKey = new byte[DATA_KEY_BYTES];
    random.nextBytes(dataKey);
    byte[] bound = boundTo(app, provider, environment);
    try {
      byte[] wrapped = keyEncryption.encrypt(dataKey, bound);
      byte[] sealed = new AesGcmJce(dataKey).encrypt(secret, bound);
      byte[] stored = new byte[2 + wrapped.length + sealed.length];
      stored[0] = VERSION;
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

  /// @throws CredentialUnreadable when the master key is another one, the row was moved or its bytes were changed
  public byte[] decrypt(AppId app, String provider, String environment, byte[] stored) {
    if (stored.length < 2 || stored[0] != VERSION || stored.length < 2 + (stored[1] & 0xff)) {
      throw new CredentialUnreadable("not a sealed credential of version 1", null);
    }
    int wrappedLength = stored[1] & 0xff;
    byte[] bound = boundTo(app, provider, environment);
    try {
      byte[] dataKey =
          keyEncryption.decrypt(Arrays.copyOfRange(stored, 2, 2 + wrappedLength), bound);
      return new AesGcmJce(dataKey)
          .decrypt(Arrays.copyOfRange(stored, 2 + wrappedLength, stored.length), bound);
    } catch (GeneralSecurityException e) {
      throw new CredentialUnreadable(
          "the credential does not open with this pushplanet.master-key", e);
    }
  }

  private static byte[] boundTo(AppId app, String provider, String environment) {
    return (app.value() + "\0" + provider + "\0" + environment).getBytes(StandardCharsets.UTF_8);
  }
}
