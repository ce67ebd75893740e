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
/// used to its end, because APNs refuses workers that each make their own.
///
/// APNs counts the new tokens of a team, whichever key signed them
/// (https://developer.apple.com/forums/thread/702056). So a key's renewal waits until the team has
/// had no new token for [#TEAM_RENEWED_EVERY], as long as the former token is accepted. In a team
/// with several keys a token is renewed as soon as the team may have a new one, from
/// [#RENEWED_EARLIEST] on: later, another key's new token could make it wait beyond its own end. If
/// it must, its messages rest until then. The others let such a key go first, and one that has no
/// accepted token yet, whose first one is made at once. Three busy keys are one more than fit: each
/// rests some minutes of every hour.
///
/// Apple does not say whether a token that it refused as one too many is counted. It is treated as
/// counted: the same token is tried until APNs accepts it, and after 20 minutes it is replaced by a
/// new one, whose hour then begins, and is used no more. Thread-safe.
final class ProviderTokens {
  private static final Logger LOG = LoggerFactory.getLogger(ProviderTokens.class);

  /// "Refresh your token no more than once every 20 minutes and no less than once every 60 minutes"
  /// (https://developer.apple.com/documentation/usernotifications/establishing-a-token-based-connection-to-apns).
  static final Duration SHORTEST_LIFE = Duration.ofMinutes(20);

  static final Duration RENEWED_AFTER = Duration.ofMinutes(50);
  // Two minutes before APNs refuses it, for the way there and for clocks that differ.
  static final Duration LONGEST_LIFE = Duration.ofMinutes(58);

  /// Longer than [#SHORTEST_LIFE], because workers' clocks differ, and a token is made before it is
  /// used.
  static final Duration TEAM_RENEWED_EVERY = SHORTEST_LIFE.plusSeconds(30);

  /// So long after its end a token waits for its team's turn at most.
  private static final Duration LONGEST_WITHOUT = Duration.ofMinutes(5);

  /// Two minutes before another key's new token could make this one wait beyond its end.
  static final Duration RENEWED_EARLIEST = LONGEST_LIFE.minus(TEAM_RENEWED_EVERY).minusMinutes(2);

  /// How often Redis is asked whether a token that is due may be renewed.
  private static final Duration ASKED_EVERY = Duration.ofSeconds(1);

  /// The same before it is due, which matters only in a team with several keys.
  private static final Duration ASKED_EARLY_EVERY = Duration.ofSeconds(30);

  /// How long messages rest when APNs calls their only token one too many; callers spread it. It is
  /// also the longest wait for the message that tries the token afterwards.
  static final Duration REST = Duration.ofSeconds(30);

  /// One log line for all answers of that time, because every answer of a connection may say the
  /// same.
  private static final Duration TOLD_EVERY = Duration.ofMinutes(1);

  private static final int TOO_MANY_REQUESTS = 429;
  private static final int MAX_KEYS = 10_000;
  private static final int MAX_ASKED_AT_ONCE = 500;

  /// @param key its [Team#name(ApnsKey)]
  private record Signer(String teamId, String key) {}

  /// @param tried whether a message is on its way to find out whether APNs accepts the token now
  private record Rest(ProviderToken of, Instant until, boolean tried) {
    /// A rest that ends further ahead was set before the clock was set back.
    boolean lasts(Instant now) {
      return now.isBefore(until) && !until.isAfter(now.plus(SHORTEST_LIFE));
    }
  }

  /// @param of the token that is not renewed before
  private record Turn(ProviderToken of, Instant at) {}

  private static final class Slot {
    final ApnsKey key;

    /// Held while Redis is asked. Senders read the token without it.
    final ReentrantLock lock = new ReentrantLock();

    volatile @Nullable ProviderToken current;

    volatile Instant asksAgainAt = Instant.MIN;

    /// When the team may have a new token again, if that is after this key's token has ended.
    volatile @Nullable Turn turn;

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

    /// When the others may be asked again for an older token.
    @GuardedBy("lock")
    Instant asksOthersAt = Instant.MIN;

    Slot(ApnsKey key) {
      this.key = key;
    }

    /// The token, as long as APNs accepts it.
    Optional<ProviderToken> held(Instant now) {
      return Optional.ofNullable(current).filter(token -> isAccepted(token, now));
    }

    /// Whether APNs called this token one too many, and has not accepted it since.
    boolean waitsFor(ProviderToken token) {
      Rest now = rest.get();
      return now != null && now.of().equals(token);
    }

    /// Whether the token is so old that a new one may be made, if it is the team's turn.
    boolean mayRenew(ProviderToken token, Instant now) {
      return !now.isBefore(
          token.issuedAt().plus(waitsFor(token) ? SHORTEST_LIFE : RENEWED_EARLIEST));
    }

    /// The former token is the older one from now on, unless it was never accepted.
    @GuardedBy("lock")
    void follow(ProviderToken next) {
      ProviderToken former = current;
      previous = former == null || waitsFor(former) ? null : former;
      current = next;
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

    /// How long messages rest because the token has ended and the team may have no new one yet.
    Optional<Duration> restUntilTurn(Instant now) {
      Turn next = turn;
      return next != null
              && next.of().equals(current)
              && !isAccepted(next.of(), now)
              && !isOfTheFuture(next.of(), now)
              && now.isBefore(next.at())
          ? Optional.of(Duration.between(now, next.at()))
          : Optional.empty();
    }

    boolean asksNow(ProviderToken token, Instant now) {
      return mayRenew(token, now) && !now.isBefore(asksAgainAt);
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
                inTurn(slot, token, now);
            case Known.Agreed(ProviderToken token) -> agreed(slot, token, now);
            case Known.None() ->
                accepted.isPresent() ? inTurn(slot, accepted.get(), now) : agreed(slot, null, now);
            // A worker without a usable token asks once more before it makes one alone.
            case Known.Silent() -> accepted.isPresent() ? accepted.get() : agreed(slot, null, now);
          };
      if (next.equals(slot.current)) {
        slot.asksAgainAt = now.plus(isDue(next, now) ? ASKED_EVERY : ASKED_EARLY_EVERY);
        return next;
      }
      slot.follow(next);
      return next;
    } finally {
      slot.lock.unlock();
    }
  }

  private static boolean isDue(ProviderToken token, Instant now) {
    return !now.isBefore(token.issuedAt().plus(RENEWED_AFTER));
  }

  /// A new token when it is this key's turn in its team, else the given one, which is still
  /// accepted.
  @GuardedBy("slot.lock")
  private ProviderToken inTurn(Slot slot, ProviderToken token, Instant now) {
    if (!slot.mayRenew(token, now)) {
      return token;
    }
    return slot.waitsFor(token)
        ? insteadOfRefused(slot, token, now)
        : renewedInTurn(slot, token, now);
  }

  @GuardedBy("slot.lock")
  private ProviderToken renewedInTurn(Slot slot, ProviderToken token, Instant now) {
    ApnsKey key = slot.key;
    Instant noneSince = now.minus(TEAM_RENEWED_EVERY);
    if (slot.isTooSoonForAnother(now)) {
      return token;
    }
    Team team = shared.team(key);
    boolean wanted = (isDue(token, now) || team.hasOthersThan(key)) && !team.anotherWaits(key, now);
    if (!wanted) {
      return token;
    }
    Optional<Instant> renewal = team.renewalSince(noneSince);
    if (renewal.isPresent()) {
      waitFor(slot, token, renewal.get().plus(TEAM_RENEWED_EVERY));
      return token;
    }
    ProviderToken offer = ProviderToken.mint(key, now);
    return minted(
        key, offer, shared.renew(key, offer, token, LONGEST_LIFE, noneSince).orElse(token));
  }

  private void waitFor(Slot slot, ProviderToken token, Instant free) {
    Instant end = token.issuedAt().plus(LONGEST_LIFE);
    Instant latest = end.plus(LONGEST_WITHOUT);
    Turn turn = new Turn(token, free.isBefore(latest) ? free : latest);
    if (turn.at().isAfter(end) && !turn.equals(slot.turn)) {
      slot.turn = turn;
      shared.waits(slot.key, turn.at());
    }
  }

  /// A new token instead of one that APNs has refused for 20 minutes, unless it has accepted that
  /// one from another worker. The message that asks for it tries it, and the others rest.
  @GuardedBy("slot.lock")
  private ProviderToken insteadOfRefused(Slot slot, ProviderToken token, Instant now) {
    ApnsKey key = slot.key;
    if (shared.team(key).renewal(key).filter(token.issuedAt()::isBefore).isPresent()) {
      return token;
    }
    ProviderToken offer = ProviderToken.mint(key, now);
    ProviderToken next =
        minted(key, offer, shared.renew(key, offer, token, LONGEST_LIFE, null).orElse(token));
    if (!next.equals(token)) {
      slot.follow(next);
      slot.rest.set(new Rest(next, now.plus(REST), true));
    }
    return next;
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
      slot.tooMany = refused;
      Optional<ProviderToken> own =
          Optional.ofNullable(slot.previous).filter(it -> isAnother(it, refused, now));
      Optional<ProviderToken> older = own.isPresent() ? own : othersThan(refused, slot, now);
      older.ifPresent(it -> keep(slot, it, refused, now));
      if (older.isEmpty()) {
        rest(slot, new Rest(refused, now.plus(rest), false), now);
      }
      return older.isEmpty();
    } finally {
      slot.lock.unlock();
    }
  }

  /// All requests under way may be refused alike, so only the first refusal tells the others.
  private void rest(Slot slot, Rest rest, Instant now) {
    Rest before = slot.rest.getAndSet(rest);
    if (before == null || before.tried() || !before.lasts(now)) {
      shared.waits(slot.key, now);
    }
  }

  /// How long messages with this key still rest. When a rest is over, one message is let through,
  /// and the others wait for its answer.
  Optional<Duration> rest(ApnsKey key) {
    Slot slot = slot(key);
    Instant now = clock.instant();
    Optional<Duration> untilTurn = slot.restUntilTurn(now);
    Rest rest = slot.rest.get();
    if (untilTurn.isPresent() || rest == null || !rest.of().equals(slot.current)) {
      return untilTurn;
    }
    if (rest.lasts(now)) {
      return Optional.of(Duration.between(now, rest.until()));
    }
    return slot.rest.compareAndSet(rest, new Rest(rest.of(), now.plus(REST), true))
        ? Optional.empty()
        : Optional.of(REST);
  }

  /// APNs has answered a request with the key's token. When it accepted the token, the rest that
  /// was being tried is over.
  ///
  /// @param status of the answer; below 429 the token is not one too many
  void taken(ApnsKey key, int status) {
    if (status >= TOO_MANY_REQUESTS) {
      return;
    }
    Slot slot = slot(key);
    Rest rest = slot.rest.get();
    if (rest != null && rest.tried() && slot.rest.compareAndSet(rest, null)) {
      shared.accepted(key, clock.instant());
    }
  }

  /// The token that other workers use instead of the refused one. All requests under way may be
  /// refused alike, so only one of them asks.
  @GuardedBy("slot.lock")
  private Optional<ProviderToken> othersThan(ProviderToken refused, Slot slot, Instant now) {
    if (now.isBefore(slot.asksOthersAt)) {
      return Optional.empty();
    }
    if (shared.current(slot.key) instanceof Known.Agreed(ProviderToken other)
        && isAnother(other, refused, now)) {
      return Optional.of(other);
    }
    slot.asksOthersAt = now.plus(ASKED_EVERY);
    return Optional.empty();
  }

  private void keep(Slot slot, ProviderToken older, ProviderToken refused, Instant now) {
    slot.lock.lock();
    try {
      slot.current = older;
      slot.previous = null;
      var _ = shared.agree(slot.key, older, refused, lifeLeft(older, now));
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
    return shared.agree(key, held, null, lifeLeft(held, now));
  }

  private static void follow(Slot slot, ProviderToken held, ProviderToken agreed, Instant now) {
    slot.lock.lock();
    try {
      boolean lives = now.isBefore(agreed.issuedAt().plus(RENEWED_AFTER));
      if (lives && held.equals(slot.current) && !agreed.equals(held)) {
        slot.follow(agreed);
      }
    } finally {
      slot.lock.unlock();
    }
  }

  private static Duration lifeLeft(ProviderToken token, Instant now) {
    Duration left = Duration.between(now, token.issuedAt().plus(LONGEST_LIFE));
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
            .agree(slot.key, instead.get(), refused, lifeLeft(instead.get(), now))
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
            .renew(key, offer, refused, LONGEST_LIFE, null)
            .orElseGet(() -> usedSoFar(slot, refused, now).orElse(offer));
    return minted(key, offer, agreed);
  }

  private ProviderToken minted(ApnsKey key, ProviderToken offer, ProviderToken agreed) {
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
    return slots.get(new Signer(key.teamId(), Team.name(key)), _ -> new Slot(key));
  }
}
