package io.pushplanet.simulators.apns;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// The keys and tokens Apple knows, shared by both environments. Keys are kept in `apns-keys.json`.
///
/// Thread-safe.
public final class ApnsDirectory {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final Map<String, ApnsKey> keys = new ConcurrentHashMap<>();
  private final Map<String, ApnsToken> tokens = new ConcurrentHashMap<>();
  private final Path file;

  private ApnsDirectory(Path file) {
    this.file = file;
  }

  /// Opens the directory kept in `state`.
  public static ApnsDirectory in(Path state) {
    ApnsDirectory directory = new ApnsDirectory(state.resolve("apns-keys.json"));
    if (Files.exists(directory.file)) {
      for (ApnsKey key : JSON.readValue(directory.file.toFile(), ApnsKey[].class)) {
        directory.keys.put(key.keyId(), key);
      }
    }
    return directory;
  }

  /// Registers a key, or changes its data.
  public synchronized void register(ApnsKey key) {
    keys.put(key.keyId(), key);
    save();
  }

  /// Revokes a key.
  public synchronized boolean revoke(String keyId) {
    boolean known = keys.remove(keyId) != null;
    save();
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

  private void save() {
    try {
      Path draft = file.resolveSibling(file.getFileName() + ".new");
      Files.write(draft, JSON.writeValueAsBytes(List.copyOf(keys.values())));
      Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + file, e);
    }
  }
}
