package io.pushplanet.gateway.token;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Stops the forgetting of an app's tokens at one provider when too many die at once. A swapped key
/// or a wrong environment makes every token look dead, and a wrong purge is worse than a late one.
/// It opens for [#OPEN] after more than [#MAX_DEAD_PERCENT] of at least [#FEWEST_SENDS] answers
/// within a minute, or of [#FEWEST_AFTER_A_CHANGE] while the app's credentials are new.
///
/// All workers count together: each reports every death before it is believed, and all other
/// answers once a second. While the others' counts are unknown, a worker's own count decides.
///
/// The breaker alone would let the first tokens go before it opens. So for deaths that a wrong
/// credential causes as well, a credential has to prove itself: since it came into use, more
/// messages must have been accepted than tokens called dead. Thread-safe.
public final class PurgeBreaker {
  static final int FEWEST_SENDS = 200;
  static final int FEWEST_AFTER_A_CHANGE = 20;
  static final int MAX_DEAD_PERCENT = 5;
  static final Duration WINDOW = Duration.ofMinutes(1);
  static final Duration OPEN = Duration.ofMinutes(10);

  /// So many such deaths with an unproven credential are worth an alert.
  static final int MANY_UNPROVEN = 20;

  /// Accepted messages beyond so many, and beyond twice the deaths, prove nothing more and are not
  /// counted.
  private static final int ENOUGH = 1_000;

  /// For so long after a change, answers to the former credential's requests still arrive.
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
    /// Adds what one worker has counted since its last call.
    ///
    /// @param fewest answers that are enough to judge by
    /// @return for how long no token may be forgotten, zero when all may be; empty when it is
    ///     unknown
    Optional<Duration> add(AppId app, Channel channel, int sends, int dead, int fewest);
  }

  /// One worker's own counts.
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

    /// @return what to report to the others now
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

    /// @param counted for how long all workers together forget nothing; null when it is unknown
    synchronized void judge(@Nullable Duration counted, int fewest, Instant now) {
      Duration alone = tooManyDead(sends, dead, fewest) ? OPEN : Duration.ZERO;
      Duration rest = counted == null ? alone : counted;
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
    return sends >= fewest && dead * 100 > sends * MAX_DEAD_PERCENT;
  }

  /// Counts an answer. Blocks while it is reported to the others.
  ///
  /// @return whether no token may be forgotten now
  public boolean count(AppId app, Channel channel, boolean dead) {
    Answers own = answers.computeIfAbsent(new Key(app, channel), _ -> new Answers());
    Instant now = clock.instant();
    own.add(dead, now)
        .ifPresent(untold -> {
          int fewest = isNew(app, now) ? FEWEST_AFTER_A_CHANGE : FEWEST_SENDS;
          Duration counted =
              together.add(app, channel, untold.sends(), untold.dead(), fewest).orElse(null);
          own.judge(counted, fewest, now);
        });
    return own.isOpen(now);
  }

  private boolean isNew(AppId app, Instant now) {
    Instant settled = changes.get(app);
    return settled != null && settled.plus(OPEN).isAfter(now);
  }

  /// A provider accepted a message: the credential is the right one for these devices.
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
