package io.pushplanet.gateway.token;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.session.RedisLink;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// Stops the forgetting of tokens of one app at one provider when too many die at once: a swapped key or a wrong environment
/// makes every token look dead, and a wrong purge is worse than a late one. Open for [#OPEN] after more than
/// [#MOST_DEAD_PERCENT] of at least [#FEWEST_SENDS] answers within a minute; of [#FEWEST_AFTER_A_CHANGE] while the app's
/// credentials are new.
///
/// All workers count together: each tells of every death before it is believed, of all else once a second. While nobody knows
/// what the others count, a worker's own count decides.
///
/// That alone would let the first tokens go before it opens. So for deaths that a wrong credential would cause as well, a
/// credential has to prove itself: since it is in use, more must have been accepted than called dead. Thread-safe.
public final class PurgeBreaker {
  static final int FEWEST_SENDS = 200;
  static final int FEWEST_AFTER_A_CHANGE = 20;
  static final int MOST_DEAD_PERCENT = 5;
  static final Duration WINDOW = Duration.ofMinutes(1);
  static final Duration OPEN = Duration.ofMinutes(10);

  /// So many such deaths with nothing proved are worth an operator's look.
  static final int MANY_UNPROVEN = 20;

  /// What is accepted beyond so many, and twice the deaths, proves nothing more and is not counted.
  private static final int ENOUGH = 1_000;

  /// Answers to the former credential's requests still come in so long after a change.
  static final Duration SETTLING = Duration.ofSeconds(15);

  private static final Duration TOLD_EVERY = Duration.ofSeconds(1);

  private final Clock clock;
  private final Together together;
  private final Map<Key, Answers> answers = new ConcurrentHashMap<>();
  private final Map<Sender, Proof> proofs = new ConcurrentHashMap<>();
  private final Map<AppId, Instant> changes = new ConcurrentHashMap<>();

  private record Sender(AppId app, Channel channel, String environment) {}

  private record Proof(long accepted, long doubted, Instant since) {}

  private record Key(AppId app, Channel channel) {}

  private record Untold(int sends, int dead) {}

  /// What all workers have counted.
  @FunctionalInterface
  interface Together {
    /// Adds what one of them has counted since it was here last.
    ///
    /// @param fewest answers that are enough to judge by
    /// @return how long nothing may be forgotten any more, zero when all may be; empty when nobody knows
    Optional<Duration> add(AppId app, Channel channel, int sends, int dead, int fewest);
  }

  /// A worker's own.
  private static final class Answers {
    @GuardedBy("this")
    private Instant from = Instant.EPOCH;

    @GuardedBy("this")
    private int sends;

    @GuardedBy("this")
    private int dead;

    @GuardedBy("this")
    private Instant toldAt = Instant.EPOCH;

    @GuardedBy("this")
    private Untold untold = new Untold(0, 0);

    @GuardedBy("this")
    private Instant openUntil = Instant.EPOCH;

    /// @return what the others are to be told of now
    synchronized Optional<Untold> add(boolean death, Instant now) {
      if (from.plus(WINDOW).isBefore(now)) {
        from = now;
        sends = 0;
        dead = 0;
        untold = new Untold(0, 0);
      }
      int died = death ? 1 : 0;
      sends++;
      dead += died;
      untold = new Untold(untold.sends() + 1, untold.dead() + died);
      if (toldAt.plus(TOLD_EVERY).isAfter(now) && !(death && !isOpen(now))) {
        return Optional.empty();
      }
      Untold telling = untold;
      untold = new Untold(0, 0);
      toldAt = now;
      return Optional.of(telling);
    }

    /// @param open what all workers have counted, if anybody knows
    synchronized void judge(Optional<Duration> open, int fewest, Instant now) {
      Duration rest = open.orElseGet(() -> tooManyDead(sends, dead, fewest) ? OPEN : Duration.ZERO);
      if (now.plus(rest).isAfter(openUntil)) {
        openUntil = now.plus(rest);
      }
    }

    synchronized boolean isOpen(Instant now) {
      return openUntil.isAfter(now);
    }
  }

  /// Each process counts alone.
  public PurgeBreaker(Clock clock) {
    this(clock, (_, _, _, _, _) -> Optional.empty());
  }

  /// All processes at this Redis count together.
  public PurgeBreaker(Clock clock, RedisLink redis) {
    this(clock, new SharedAnswers(redis, clock));
  }

  PurgeBreaker(Clock clock, Together together) {
    this.clock = clock;
    this.together = together;
  }

  static boolean tooManyDead(long sends, long dead, int fewest) {
    return sends >= fewest && dead * 100 > sends * MOST_DEAD_PERCENT;
  }

  /// Counts an answer. Blocks while the others are told.
  ///
  /// @return whether nothing may be forgotten now
  public boolean count(AppId app, Channel channel, boolean dead) {
    Answers own = answers.computeIfAbsent(new Key(app, channel), _ -> new Answers());
    Instant now = clock.instant();
    own.add(dead, now)
        .ifPresent(untold -> {
          int fewest = isNew(app, now) ? FEWEST_AFTER_A_CHANGE : FEWEST_SENDS;
          own.judge(together.add(app, channel, untold.sends(), untold.dead(), fewest), fewest, now);
        });
    return own.isOpen(now);
  }

  private boolean isNew(AppId app, Instant now) {
    Instant settled = changes.get(app);
    return settled != null && settled.plus(OPEN).isAfter(now);
  }

  /// A provider took a message: the credential is the right one for these devices.
  void accepted(AppId app, Channel channel, String environment) {
    Proof proof = proofs.get(new Sender(app, channel, environment));
    boolean beyondDoubt =
        proof != null
            && proof.accepted() > ENOUGH + 2 * proof.doubted()
            && !proof.since().isBefore(changes.getOrDefault(app, Instant.EPOCH));
    if (!beyondDoubt) {
      proved(app, channel, environment, 1, 0);
    }
  }

  /// Counts a death that a wrong credential may have caused.
  ///
  /// @return whether it may be believed
  boolean believes(AppId app, Channel channel, String environment) {
    Proof proof = proved(app, channel, environment, 0, 1);
    return proof.accepted() > proof.doubted();
  }

  boolean manyUnproven(AppId app, Channel channel, String environment) {
    Proof proof = proofs.get(new Sender(app, channel, environment));
    return proof != null && proof.doubted() >= MANY_UNPROVEN;
  }

  void credentialsChanged(AppId app) {
    changes.put(app, clock.instant().plus(SETTLING));
  }

  private Proof proved(AppId app, Channel channel, String environment, int accepted, int doubted) {
    return proofs.compute(
        new Sender(app, channel, environment),
        (_, before) -> {
          Instant settled = changes.getOrDefault(app, Instant.EPOCH);
          Proof proof =
              before == null || before.since().isBefore(settled)
                  ? new Proof(0, 0, settled)
                  : before;
          boolean settling = settled.isAfter(clock.instant());
          return new Proof(
              settling ? 0 : proof.accepted() + accepted, proof.doubted() + doubted, proof.since());
        });
  }
}
