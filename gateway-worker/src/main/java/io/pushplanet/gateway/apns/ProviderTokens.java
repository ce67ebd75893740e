package io.pushplanet.gateway.apns;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.gateway.apns.SharedTokens.Known;
import io.pushplanet.gateway.credential.Credential.ApnsKey;
import io.pushplanet.gateway.provider.ProviderMetrics;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The provider token of each team and key: made once, used on every connection of every worker,
/// and renewed after 50 minutes of the 60 that APNs accepts. While one thread renews it, the others
/// use the former token as long as APNs accepts it, and then wait. While Redis is away a token is
/// used to its end, because APNs refuses workers that each make their own. Thread-safe.
final class ProviderTokens {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderTokens.class);

  /// "Refresh your token no more than once every 20 minutes and no less than once every 60 minutes"
  /// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns).
  static final Duration SHORTEST_LIFE = Duration.ofMinutes(20);

  static final Duration RENEWED_AFTER = Duration.ofMinutes(50);
  // Two minutes before APNs refuses it, for the way there and for clocks that differ.
  static final Duration LONGEST_LIFE = Duration.ofMinutes(58);

  /// By how much workers' clocks may differ at most.
  private static final Duration SKEW = Duration.ofMinutes(1);

  /// How often Redis is asked for the next token. It keeps a token for its whole life after the
  /// agreement, a little longer than since its making, and clocks differ. Until then it answers
  /// with the token that is to be renewed; or with none, while it is away.
  private static final Duration ASKED_EVERY = Duration.ofSeconds(1);

  /// How long messages rest when APNs calls their only token one too many; callers spread it. It is
  /// also the longest wait for the message that tries the token afterwards.
  static final Duration REST = Duration.ofSeconds(30);

  /// One log line for all answers of that time, because every answer of a connection may say the
  /// same.
  private static final Duration TOLD_EVERY = Duration.ofMinutes(1);

  private static final int MAX_KEYS = 10_000;
  private static final int MAX_ASKED_AT_ONCE = 500;

  /// Contains the secret's fingerprint, so that a corrected upload of the same key id gets a token
  /// of its own.
  private record Signer(String teamId, String keyId, String fingerprint) {}

  /// @param tried whether a message is on its way to find out whether APNs accepts the token now
  private record Rest(ProviderToken of, Instant until, boolean tried) {
    /// A rest that ends further ahead was set before the clock was set back.
    boolean lasts(Instant now) {
      return now.isBefore(until) && !until.isAfter(now.plus(SHORTEST_LIFE));
    }
  }

  private static final class Slot {
    final ApnsKey key;

    /// Held while Redis is asked. Senders read the token without it.
    final ReentrantLock lock = new ReentrantLock();

    volatile @Nullable ProviderToken current;

    /// Used for as long as APNs accepts it, because APNs called its successor one too many.
    volatile @Nullable ProviderToken kept;

    volatile Instant asksAgainAt = Instant.MIN;

    final AtomicReference<@Nullable Rest> rest = new AtomicReference<>();

    @GuardedBy("lock")
    @Nullable ProviderToken previous;

    /// The token that APNs called one too many. Once the kept one is too old, it is used again,
    /// rather than yet another one.
    @GuardedBy("lock")
    @Nullable ProviderToken tooMany;

    @GuardedBy("lock")
    Instant noRenewalBefore = Instant.MIN;

    @GuardedBy("lock")
    Instant toldAt = Instant.MIN;

    Slot(ApnsKey key) {
      this.key = key;
    }

    /// The token, as long as it is not due for renewal.
    Optional<ProviderToken> held(Instant now) {
      return Optional.ofNullable(current).filter(token -> now.isBefore(until(token)));
    }

    /// When this token is renewed.
    Instant until(ProviderToken token) {
      return token.issuedAt().plus(token.equals(kept) ? LONGEST_LIFE : RENEWED_AFTER);
    }

    /// A limit further ahead was set before the clock was set back.
    @GuardedBy("lock")
    boolean isTooSoonForAnother(Instant now) {
      return now.isBefore(noRenewalBefore) && !noRenewalBefore.isAfter(now.plus(SHORTEST_LIFE));
    }

    /// The token to use while it is too soon for a new one.
    @GuardedBy("lock")
    Optional<ProviderToken> insteadOfNew(Instant now) {
      return isTooSoonForAnother(now)
          ? Stream.of(Optional.ofNullable(current), Optional.ofNullable(tooMany))
              .flatMap(Optional::stream)
              .filter(token -> isAccepted(token, now))
              .findFirst()
          : Optional.empty();
    }

    boolean asksNow(ProviderToken token, Instant now) {
      return !now.isBefore(until(token)) && !now.isBefore(asksAgainAt);
    }
  }

  private final SharedTokens shared;
  private final Clock clock;
  private final ProviderMetrics metrics;
  private final Cache<Signer, Slot> slots = Caffeine.newBuilder().maximumSize(MAX_KEYS).build();

  ProviderTokens(SharedTokens shared, Clock clock, ProviderMetrics metrics) {
    this.shared = shared;
    this.clock = clock;
    this.metrics = metrics;
  }

  /// The token to send with now.
  ProviderToken current(ApnsKey key) {
    Slot slot = slot(key);
    Instant now = clock.instant();
    ProviderToken held = slot.current;
    if (held == null || !isAccepted(held, now)) {
      return next(slot);
    }
    if (!slot.asksNow(held, now) || !slot.lock.tryLock()) {
      return held;
    }
    try {
      return next(slot);
    } finally {
      slot.lock.unlock();
    }
  }

  /// The held token's successor, unless another thread has just fetched it.
  private ProviderToken next(Slot slot) {
    slot.lock.lock();
    try {
      Instant now = clock.instant();
      ProviderToken held = slot.current;
      Optional<ProviderToken> accepted =
          Optional.ofNullable(held).filter(token -> isAccepted(token, now));
      if (accepted.isPresent() && !slot.asksNow(accepted.get(), now)) {
        return accepted.get();
      }
      ProviderToken next =
          switch (shared.current(slot.key)) {
            case Known.Agreed(ProviderToken token) when isAccepted(token, now) ->
                ofTheOthers(slot, token, now);
            case Known.Agreed(ProviderToken token) ->
                agreed(slot, isOfTheFuture(token, now) ? token : null, now);
            case Known.None() -> agreed(slot, null, now);
            // A worker without a usable token asks once more before it makes one alone.
            case Known.Silent() -> accepted.isPresent() ? accepted.get() : agreed(slot, null, now);
          };
      if (next.equals(held)) {
        asksLater(slot);
        return next;
      }
      slot.previous = held;
      slot.current = next;
      return next;
    } finally {
      slot.lock.unlock();
    }
  }

  private void asksLater(Slot slot) {
    slot.asksAgainAt = clock.instant().plus(ASKED_EVERY);
  }

  /// A token that is due for renewal and is still in Redis may have been kept by another worker.
  private static ProviderToken ofTheOthers(Slot slot, ProviderToken token, Instant now) {
    if (now.isAfter(token.issuedAt().plus(RENEWED_AFTER).plus(SKEW))) {
      // It was kept: otherwise it would be gone, whatever its maker's clock says.
      slot.kept = token;
    }
    return token;
  }

  /// APNs called this token expired. It is renewed once for all callers that report it, and not
  /// again within 20 minutes.
  ///
  /// @return another token; empty when there is none
  Optional<ProviderToken> renewed(ApnsKey key, ProviderToken refused) {
    Slot slot = slot(key);
    slot.lock.lock();
    try {
      ProviderToken held = slot.current;
      if (held != null && !held.jwt().equals(refused.jwt())) {
        return Optional.of(held);
      }
      Instant now = clock.instant();
      if (slot.isTooSoonForAnother(now)) {
        return Optional.empty();
      }
      slot.noRenewalBefore = now.plus(SHORTEST_LIFE);
      ProviderToken agreed = mintedAndAgreed(slot, refused, now);
      if (agreed.jwt().equals(refused.jwt())) {
        return Optional.empty();
      }
      slot.previous = null;
      slot.current = agreed;
      return Optional.of(agreed);
    } finally {
      slot.lock.unlock();
    }
  }

  /// APNs has seen too many tokens of this team. No new one is made for 20 minutes, and the older
  /// one is used again, this worker's own or the others', for as long as APNs accepts it. When
  /// there is none, all messages rest, because each would cost a connection.
  ///
  /// @param rest how long
  /// @return whether they rest
  boolean keepOlder(ApnsKey key, ProviderToken refused, Duration rest) {
    Slot slot = slot(key);
    slot.lock.lock();
    try {
      Instant now = clock.instant();
      slot.noRenewalBefore = now.plus(SHORTEST_LIFE);
      slot.tooMany = refused;
      if (now.isAfter(slot.toldAt.plus(TOLD_EVERY))) {
        slot.toldAt = now;
        LOG.error(
            "event=apns_too_many_provider_tokens teamId={} keyId={} action=\"use this team's keys from"
                + " this platform only, and give all workers the same Redis\"",
            key.teamId(),
            key.keyId());
      }
      if (slot.current == null || !slot.current.jwt().equals(refused.jwt())) {
        return false;
      }
      Optional<ProviderToken> older =
          Optional.ofNullable(slot.previous)
              .filter(it -> isAnother(it, refused, now))
              .or(() -> othersThan(refused, slot, now));
      older.ifPresent(it -> keep(slot, it, refused, now));
      if (older.isEmpty()) {
        slot.rest.set(new Rest(refused, now.plus(rest), false));
      }
      return older.isEmpty();
    } finally {
      slot.lock.unlock();
    }
  }

  /// How long messages with this key still rest. When a rest is over, one message is let through,
  /// and the others wait for its answer.
  Optional<Duration> rest(ApnsKey key) {
    Slot slot = slot(key);
    Rest rest = slot.rest.get();
    if (rest == null || !rest.of().equals(slot.current)) {
      return Optional.empty();
    }
    Instant now = clock.instant();
    if (rest.lasts(now)) {
      return Optional.of(Duration.between(now, rest.until()));
    }
    return slot.rest.compareAndSet(rest, new Rest(rest.of(), now.plus(REST), true))
        ? Optional.empty()
        : Optional.of(REST);
  }

  /// APNs accepted the key's token, which ends a rest that was being tried.
  void taken(ApnsKey key) {
    Slot slot = slot(key);
    Rest rest = slot.rest.get();
    if (rest != null && rest.tried()) {
      slot.rest.compareAndSet(rest, null);
    }
  }

  /// The token that other workers use instead of the refused one. All requests under way may be
  /// refused alike, so only one of them asks.
  private Optional<ProviderToken> othersThan(ProviderToken refused, Slot slot, Instant now) {
    if (now.isBefore(slot.asksAgainAt)) {
      return Optional.empty();
    }
    if (shared.current(slot.key) instanceof Known.Agreed(ProviderToken other)
        && isAnother(other, refused, now)) {
      return Optional.of(other);
    }
    asksLater(slot);
    return Optional.empty();
  }

  private void keep(Slot slot, ProviderToken older, ProviderToken refused, Instant now) {
    slot.lock.lock();
    try {
      slot.kept = older;
      slot.current = older;
      slot.previous = null;
      var _ = shared.agree(slot.key, older, refused, lifeLeft(slot, older, now));
    } finally {
      slot.lock.unlock();
    }
  }

  /// Whether the other token may be used instead of the refused one.
  private static boolean isAnother(ProviderToken other, ProviderToken refused, Instant now) {
    return !other.jwt().equals(refused.jwt()) && isAccepted(other, now);
  }

  private static boolean isAccepted(ProviderToken token, Instant now) {
    return now.isBefore(token.issuedAt().plus(LONGEST_LIFE)) && !isOfTheFuture(token, now);
  }

  /// Whether the clock has been set back since, or the maker's clock was far ahead. APNs refuses
  /// such a token.
  private static boolean isOfTheFuture(ProviderToken token, Instant now) {
    return token.issuedAt().isAfter(now.plus(SHORTEST_LIFE));
  }

  /// Puts the tokens in use into Redis again when Redis has lost them: otherwise a worker that
  /// starts would make another one, which APNs refuses for 20 minutes. If the other workers have
  /// agreed on another token meanwhile, it is used from now on.
  ///
  /// @return false: there is nothing more to do at once
  boolean share() {
    Instant now = clock.instant();
    List<Slot> used =
        slots.asMap().values().stream().filter(slot -> slot.held(now).isPresent()).toList();
    for (int from = 0; from < used.size(); from += MAX_ASKED_AT_ONCE) {
      List<Slot> some = used.subList(from, Math.min(used.size(), from + MAX_ASKED_AT_ONCE));
      List<Optional<ProviderToken>> known =
          shared.current(some.stream().map(slot -> slot.key).toList());
      for (int i = 0; i < known.size(); i++) {
        share(some.get(i), known.get(i), now);
      }
    }
    return false;
  }

  private void share(Slot slot, Optional<ProviderToken> known, Instant now) {
    slot.held(now)
        .ifPresent(held ->
            known
                .or(() -> toldAgain(slot, held, now))
                .ifPresent(agreed -> follow(slot, held, agreed, now)));
  }

  private Optional<ProviderToken> toldAgain(Slot slot, ProviderToken held, Instant now) {
    ApnsKey key = slot.key;
    LOG.info("event=provider_token_told_again teamId={} keyId={}", key.teamId(), key.keyId());
    return shared.agree(key, held, null, lifeLeft(slot, held, now));
  }

  private static void follow(Slot slot, ProviderToken held, ProviderToken agreed, Instant now) {
    slot.lock.lock();
    try {
      boolean lives = now.isBefore(agreed.issuedAt().plus(RENEWED_AFTER));
      if (lives && held.equals(slot.current) && !agreed.equals(held)) {
        slot.previous = held;
        slot.current = agreed;
      }
    } finally {
      slot.lock.unlock();
    }
  }

  private static Duration lifeLeft(Slot slot, ProviderToken token, Instant now) {
    Duration left = Duration.between(now, slot.until(token));
    return left.isPositive() ? left : Duration.ofSeconds(1);
  }

  /// Agrees with the others on the token to use now: a new one, or while it is too soon for that,
  /// one that there is.
  ///
  /// @param refused a shared token that may be replaced; null for none
  @GuardedBy("slot.lock")
  private ProviderToken agreed(Slot slot, @Nullable ProviderToken refused, Instant now) {
    Optional<ProviderToken> instead = slot.insteadOfNew(now);
    return instead.isEmpty()
        ? mintedAndAgreed(slot, refused, now)
        : shared
            .agree(slot.key, instead.get(), refused, lifeLeft(slot, instead.get(), now))
            .orElseGet(() -> usedSoFar(slot, refused, now).orElse(instead.get()));
  }

  /// Makes a token and offers it to the others. While Redis is away the former token is used on, as
  /// long as APNs accepts it, and then the new one.
  ///
  /// @param refused a shared token that may be replaced; null for none
  private ProviderToken mintedAndAgreed(Slot slot, @Nullable ProviderToken refused, Instant now) {
    ApnsKey key = slot.key;
    ProviderToken offer = ProviderToken.mint(key, now);
    ProviderToken agreed =
        shared
            .agree(key, offer, refused, RENEWED_AFTER)
            .orElseGet(() -> usedSoFar(slot, refused, now).orElse(offer));
    if (agreed.jwt().equals(offer.jwt())) {
      metrics.tokenMinted();
      LOG.info("event=provider_token_minted teamId={} keyId={}", key.teamId(), key.keyId());
    }
    return agreed;
  }

  private static Optional<ProviderToken> usedSoFar(
      Slot slot, @Nullable ProviderToken refused, Instant now) {
    return Optional.ofNullable(slot.current)
        .filter(token -> isAccepted(token, now))
        .filter(token -> refused == null || !token.jwt().equals(refused.jwt()));
  }

  private Slot slot(ApnsKey key) {
    return slots.get(new Signer(key.teamId(), key.keyId(), key.fingerprint()), _ -> new Slot(key));
  }
}
