package io.pushplanet.simulators.fcm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// The service accounts and tokens Google knows. Accounts are kept in `fcm-accounts.json`, and so
/// is the secret of the access tokens: they outlive a restart, as Google's do.
///
/// Thread-safe.
public final class FcmDirectory {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final Map<String, FcmAccount> accounts = new ConcurrentHashMap<>();
  private final Map<String, FcmToken> tokens = new ConcurrentHashMap<>();
  private final Path file;
  private final byte[] accessSecret;

  private FcmDirectory(Path file, byte[] accessSecret) {
    this.file = file;
    this.accessSecret = accessSecret;
  }

  /// Opens the directory kept in `state`.
  public static FcmDirectory in(Path state) {
    try {
      Path secretFile = state.resolve("fcm-access.key");
      if (!Files.exists(secretFile)) {
        byte[] secret = new byte[32];
        new SecureRandom().nextBytes(secret);
        Files.createDirectories(state);
        Files.write(secretFile, secret);
      }
      FcmDirectory directory =
          new FcmDirectory(state.resolve("fcm-accounts.json"), Files.readAllBytes(secretFile));
      if (Files.exists(directory.file)) {
        for (FcmAccount account : JSON.readValue(directory.file.toFile(), FcmAccount[].class)) {
          directory.accounts.put(account.clientEmail(), account);
        }
      }
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot keep FCM's accounts in " + state, e);
    }
  }

  /// Registers a service account, or gives it a new key.
  public synchronized void register(FcmAccount account) {
    accounts.put(account.clientEmail(), account);
    try {
      Path draft = file.resolveSibling(file.getFileName() + ".new");
      Files.write(draft, JSON.writeValueAsBytes(List.copyOf(accounts.values())));
      Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + file, e);
    }
  }

  /// Registers a registration token.
  public void register(String token, FcmToken known) {
    tokens.put(token, known);
  }

  /// Makes a token unknown again.
  public void forget(String token) {
    tokens.remove(token);
  }

  @Nullable FcmAccount account(String clientEmail) {
    return accounts.get(clientEmail);
  }

  @Nullable FcmToken token(String token) {
    return tokens.get(token);
  }

  byte[] accessSecret() {
    return accessSecret;
  }
}
