package io.pushplanet.simulators.fcm;

import io.pushplanet.simulators.state.StateFile;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The service accounts and tokens Google knows. Accounts are kept in `fcm-accounts.json`, and so
/// is the secret of the access tokens: they outlive a restart, as Google's do.
///
/// Thread-safe.
public final class FcmDirectory {
  private final Map<String, FcmAccount> accounts = new ConcurrentHashMap<>();
  private final Map<String, FcmToken> tokens = new ConcurrentHashMap<>();
  private final StateFile file;
  private final byte[] accessSecret;

  private FcmDirectory(StateFile file, byte[] accessSecret) {
    this.file = file;
    this.accessSecret = accessSecret;
  }

  /// Opens the directory kept in `state`.
  public static FcmDirectory in(Path state) {
    var directory =
        new FcmDirectory(
            new StateFile(state.resolve("fcm-accounts.json")),
            StateFile.secret(state.resolve("fcm-access.key")));
    for (FcmAccount account : directory.file.read(FcmAccount[].class)) {
      directory.accounts.put(account.clientEmail(), account);
    }
    return directory;
  }

  /// Registers a service account, or gives it a new key.
  public synchronized void register(FcmAccount account) {
    accounts.put(account.clientEmail(), account);
    file.write(accounts.values());
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
