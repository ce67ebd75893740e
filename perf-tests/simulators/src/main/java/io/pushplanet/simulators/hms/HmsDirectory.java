package io.pushplanet.simulators.hms;

import io.pushplanet.simulators.state.StateFile;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The apps and tokens Huawei knows. Apps are kept in `hms-clients.json`, and so is the secret of
/// the access tokens: they outlive a restart, as Huawei's do.
///
/// Thread-safe.
public final class HmsDirectory {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int SECRET_BYTES = 32;

  private final Map<String, HmsClient> clients = new ConcurrentHashMap<>();
  private final Map<String, HmsToken> tokens = new ConcurrentHashMap<>();
  private final StateFile file;
  private final byte[] accessSecret;

  private HmsDirectory(StateFile file, byte[] accessSecret) {
    this.file = file;
    this.accessSecret = accessSecret;
  }

  /// Opens the directory kept in `state`.
  public static HmsDirectory in(Path state) {
    var directory =
        new HmsDirectory(
            new StateFile(state.resolve("hms-clients.json")),
            StateFile.secret(state.resolve("hms-access.key")));
    for (HmsClient client : directory.file.read(HmsClient[].class)) {
      directory.clients.put(client.clientId(), client);
    }
    return directory;
  }

  /// Creates an app, or gives it a new secret and revokes the former one.
  ///
  /// @param urgent whether it may send with urgency HIGH
  public HmsClient issue(String clientId, boolean urgent) {
    byte[] secret = new byte[SECRET_BYTES];
    RANDOM.nextBytes(secret);
    HmsClient client = new HmsClient(clientId, HexFormat.of().formatHex(secret), urgent);
    register(client);
    return client;
  }

  /// Registers an app.
  public synchronized void register(HmsClient client) {
    clients.put(client.clientId(), client);
    file.write(clients.values());
  }

  /// Registers a push token.
  public void register(String token, HmsToken known) {
    tokens.put(token, known);
  }

  /// Makes a token unknown again.
  public void forget(String token) {
    tokens.remove(token);
  }

  @Nullable HmsClient client(String clientId) {
    return clients.get(clientId);
  }

  /// Whether a token belongs to another app.
  boolean isIllegal(String token, String clientId) {
    HmsToken known = tokens.get(token);
    return !HmsRules.TOKEN.matcher(token).matches()
        || (known != null
            && (known.invalid()
                || !(known.clientId().isEmpty() || known.clientId().equals(clientId))));
  }

  byte[] accessSecret() {
    return accessSecret;
  }
}
