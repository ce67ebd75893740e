package io.pushplanet.simulators.apns;

import io.pushplanet.simulators.state.StateFile;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// The keys and tokens Apple knows, shared by both environments. Keys are kept in `apns-keys.json`.
///
/// Thread-safe.
public final class ApnsDirectory {
  private final Map<String, ApnsKey> keys = new ConcurrentHashMap<>();
  private final Map<String, ApnsToken> tokens = new ConcurrentHashMap<>();
  private final StateFile file;

  private ApnsDirectory(StateFile file) {
    this.file = file;
  }

  /// Opens the directory kept in `state`.
  public static ApnsDirectory in(Path state) {
    var directory = new ApnsDirectory(new StateFile(state.resolve("apns-keys.json")));
    for (ApnsKey key : directory.file.read(ApnsKey[].class)) {
      directory.keys.put(key.keyId(), key);
    }
    return directory;
  }

  /// Registers a key, or changes its data.
  public synchronized void register(ApnsKey key) {
    keys.put(key.keyId(), key);
    file.write(keys.values());
  }

  /// Revokes a key.
  public synchronized boolean revoke(String keyId) {
    boolean known = keys.remove(keyId) != null;
    file.write(keys.values());
    return known;
  }

  /// Registers a device token.
  public void register(String token, ApnsToken known) {
    tokens.put(token.toLowerCase(Locale.ROOT), known);
  }

  /// Makes a token unknown again.
  public void forget(String token) {
    tokens.remove(token.toLowerCase(Locale.ROOT));
  }

  @Nullable ApnsKey key(String keyId) {
    return keys.get(keyId);
  }

  @Nullable ApnsToken token(String token) {
    return tokens.get(token.toLowerCase(Locale.ROOT));
  }
}
