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
import java.util.stream.Collectors;
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
  private final Map<String, Instant> renewals = new ConcurrentHashMap<>();
  private final Map<String, Instant> waiting = new ConcurrentHashMap<>();

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
    renewals.putIfAbsent(name(key), offer.issuedAt());
    return Optional.of(offered(key, offer, refused, life));
  }

  private ProviderToken offered(
      ApnsKey key, ProviderToken offer, @Nullable ProviderToken former, Duration life) {
    this.life = life;
    return held.compute(
        key.keyId(),
        (id, before) -> {
          if (before != null && lives(id) && !before.equals(former)) {
            return before;
          }
          ends.put(id, clock.instant().plus(life));
          return offer;
        });
  }

  @Override
  public synchronized Optional<ProviderToken> renew(
      ApnsKey key,
      ProviderToken offer,
      @Nullable ProviderToken former,
      Duration life,
      @Nullable Instant noneSince) {
    if (silent) {
      return Optional.empty();
    }
    Optional<ProviderToken> standing = standing(key).filter(it -> !it.equals(former));
    if (standing.isEmpty() && noneSince != null && team(key).renewalSince(noneSince).isPresent()) {
      return Optional.empty();
    }
    ProviderToken agreed = offered(key, offer, former, life);
    if (agreed.equals(offer)) {
      String team = key.teamId() + "/";
      Instant forgotten = offer.issuedAt().minus(Team.REMEMBERED);
      renewals
          .entrySet()
          .removeIf(it -> it.getKey().startsWith(team) && it.getValue().isBefore(forgotten));
      renewals.put(name(key), offer.issuedAt());
    }
    return Optional.of(agreed);
  }

  /// Of its own team.
  @Override
  public Team team(ApnsKey key) {
    return silent ? Team.UNKNOWN : new Team(of(key, renewals), of(key, waiting));
  }

  private static Map<String, Instant> of(ApnsKey key, Map<String, Instant> all) {
    String team = key.teamId() + "/";
    return all.entrySet().stream()
        .filter(it -> it.getKey().startsWith(team))
        .collect(Collectors.toMap(it -> it.getKey().substring(team.length()), Map.Entry::getValue));
  }

  private static String name(ApnsKey key) {
    return key.teamId() + "/" + Team.name(key);
  }

  @Override
  public void accepted(ApnsKey key, Instant at) {
    if (!silent) {
      renewals.put(name(key), at);
      waiting.remove(name(key));
    }
  }

  @Override
  public void waits(ApnsKey key, Instant at) {
    if (!silent) {
      waiting.put(name(key), at);
    }
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
