package io.pushplanet.simulators.hms;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/// The apps and tokens Huawei knows. Apps are kept in `hms-clients.json`, and so is the secret of
/// the access tokens: they outlive a restart, as Huawei's do.
///
/// Thread-safe.
public final class HmsDirectory {
  private static final JsonMapper JSON = JsonMapper.shared();
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final int SECRET_BYTES = 32;

  private final Map<String, HmsClient> clients = new ConcurrentHashMap<>();
  private final Map<String, HmsToken> tokens = new ConcurrentHashMap<>();
  private final Path file;
  private final byte[] accessSecret;

  private HmsDirectory(Path file, byte[] accessSecret) {
    this.file = file;
    this.accessSecret = accessSecret;
  }

  /// Opens the directory kept in `state`.
  public static HmsDirectory in(Path state) {
    try {
      Path secretFile = state.resolve("hms-access.key");
      if (!Files.exists(secretFile)) {
        Files.createDirectories(state);
        Files.write(secretFile, randomBytes());
      }
      HmsDirectory directory =
          new HmsDirectory(state.resolve("hms-clients.json"), Files.readAllBytes(secretFile));
      if (Files.exists(directory.file)) {
        for (HmsClient client : JSON.readValue(directory.file.toFile(), HmsClient[].class)) {
          directory.clients.put(client.clientId(), client);
        }
      }
      return directory;
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot keep Huawei's apps in " + state, e);
    }
  }

  /// Creates an app, or gives it a new secret and revokes the former one.
  ///
  /// @param urgent whether it may send with urgency HIGH
  public HmsClient issue(String clientId, boolean urgent) {
    HmsClient client = new HmsClient(clientId, HexFormat.of().formatHex(randomBytes()), urgent);
    register(client);
    return client;
  }

  /// Registers an app.
  public synchronized void register(HmsClient client) {
    clients.put(client.clientId(), client);
    try {
      Path draft = file.resolveSibling(file.getFileName() + ".new");
      Files.write(draft, JSON.writeValueAsBytes(List.copyOf(clients.values())));
      Files.move(draft, file, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + file, e);
    }
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

  private static byte[] randomBytes() {
    byte[] secret = new byte[SECRET_BYTES];
    RANDOM.nextBytes(secret);
    return secret;
  }
}
