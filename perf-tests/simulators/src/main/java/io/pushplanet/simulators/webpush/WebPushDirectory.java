package io.pushplanet.simulators.webpush;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.json.JsonMapper;

/// The subscriptions of all browsers, kept in `webpush-subscriptions.ndjson`; after a restart none
/// of them counts as gone.
///
/// Thread-safe.
public final class WebPushDirectory {
  private static final JsonMapper JSON = JsonMapper.shared();

  private final Map<String, Subscription> subscriptions = new ConcurrentHashMap<>();
  private final Set<String> gone = ConcurrentHashMap.newKeySet();
  private final RandomGenerator random = new SecureRandom();
  private final Path file;

  private WebPushDirectory(Path file) {
    this.file = file;
  }

  /// Opens the directory kept in `state`.
  public static WebPushDirectory in(Path state) {
    WebPushDirectory directory =
        new WebPushDirectory(state.resolve("webpush-subscriptions.ndjson"));
    try {
      Files.createDirectories(state);
      if (Files.exists(directory.file)) {
        for (String line : Files.readAllLines(directory.file)) {
          Subscription subscription = JSON.readValue(line, Subscription.class);
          directory.subscriptions.put(subscription.id(), subscription);
        }
      }
      return directory;
    } catch (IOException | JacksonException e) {
      throw new IllegalStateException("Cannot read " + directory.file + "; delete it", e);
    }
  }

  /// A browser subscribes.
  ///
  /// @param applicationServerKey the VAPID public key in base64url; empty = any may send
  public synchronized Subscription subscribe(String applicationServerKey) {
    Subscription subscription = Subscription.make(applicationServerKey, random);
    subscriptions.put(subscription.id(), subscription);
    try {
      Files.writeString(
          file,
          JSON.writeValueAsString(subscription) + "\n",
          StandardCharsets.UTF_8,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write " + file, e);
    }
    return subscription;
  }

  /// The browser cancelled a subscription, or restored it.
  ///
  /// @return whether it is known
  public boolean mark(String id, boolean asGone) {
    if (!subscriptions.containsKey(id)) {
      return false;
    }
    if (asGone) {
      gone.add(id);
    } else {
      gone.remove(id);
    }
    return true;
  }

  @Nullable Subscription find(String id) {
    return subscriptions.get(id);
  }

  boolean isGone(String id) {
    return gone.contains(id);
  }
}
