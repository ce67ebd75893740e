package io.pushplanet.gateway.apns;

import io.pushplanet.gateway.credential.Credential.ApnsKey;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// What [RedisTokens] is to the workers, without Redis: [SharedTokensContract] holds for both.
final class LocalTokens implements SharedTokens {
  /// By the key's id.
  final Map<String, ProviderToken> held = new ConcurrentHashMap<>();

  final AtomicInteger reads = new AtomicInteger();

  /// Redis is away.
  volatile boolean silent;

  /// Runs while a worker waits for the answer.
  volatile Runnable meanwhile = () -> {};

  /// The life of the latest offer.
  volatile Duration life = Duration.ZERO;

  private final Clock clock;
  private final Map<String, Instant> ends = new ConcurrentHashMap<>();

  LocalTokens(Clock clock) {
    this.clock = clock;
  }

  static LocalTokens away(Clock clock) {
    LocalTokens tokens = new LocalTokens(clock);
    tokens.silent = true;
    return tokens;
  }

  @Override
  public Optional<ProviderToken> agree(
      ApnsKey key, ProviderToken offer, @Nullable ProviderToken refused, Duration life) {
    if (silent) {
      return Optional.empty();
    }
    this.life = life;
    return Optional.of(
        held.compute(
            key.keyId(),
            (id, before) -> {
              if (before != null && lives(id) && !before.equals(refused)) {
                return before;
              }
              ends.put(id, clock.instant().plus(life));
              return offer;
            }));
  }

  @Override
  public Known current(ApnsKey key) {
    reads.incrementAndGet();
    meanwhile.run();
    return silent
        ? new Known.Silent()
        : standing(key).<Known>map(Known.Agreed::new).orElseGet(Known.None::new);
  }

  @Override
  public List<Optional<ProviderToken>> current(List<ApnsKey> keys) {
    return silent ? List.of() : keys.stream().map(this::standing).toList();
  }

  private Optional<ProviderToken> standing(ApnsKey key) {
    return Optional.ofNullable(held.get(key.keyId())).filter(_ -> lives(key.keyId()));
  }

  private boolean lives(String id) {
    return clock.instant().isBefore(ends.getOrDefault(id, Instant.MAX));
  }
}
