package io.pushplanet.gateway.token;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/// Stops the forgetting of tokens of one app at one provider when too many die at once: a swapped key or a wrong environment
/// makes every token look dead, and a wrong purge is worse than a late one. Open for [#OPEN] after more than
/// [#MOST_DEAD_PERCENT] of at least [#FEWEST_SENDS] answers within a minute.
///
/// That alone would let the first tokens go before it opens. So for deaths that a wrong credential would cause as well, a
/// credential has to prove itself: since it is in use, more must have been accepted than called dead. Thread-safe.
public final class PurgeBreaker {
  static final int FEWEST_SENDS = 200;
  static final int MOST_DEAD_PERCENT = 5;
  static final Duration WINDOW = Duration.ofMinutes(1);
  static final Duration OPEN = Duration.ofMinutes(10);

  /// So many such deaths with nothing proved are worth an operator's look.
  static final int MANY_UNPROVEN = 20;

  /// What is accepted beyond so many, and twice the deaths, proves nothing more and is not counted.
  private static final int ENOUGH = 1_000;

  /// Answers to the former credential's requests still come in so long after a change.
  static final Duration SETTLING = Duration.ofSeconds(15);

  private final Clock clock;
  private final Map<Key, Window> windows = new ConcurrentHashMap<>();
  private final Map<Sender, Proof> proofs = new ConcurrentHashMap<>();
  private final Map<AppId, Instant> changes = new ConcurrentHashMap<>();

  private record Sender(AppId app, Channel channel, String environment) {}

  private record Proof(long accepted, long doubted, Instant since) {}

  private record Key(AppId app, Channel channel) {}

  private record Window(Instant from, int sends, int dead, Instant openUntil) {}

  public PurgeBreaker(Clock clock) {
    this.clock = clock;
  }

  /// Counts an answer.
  ///
  /// @return whether nothing may be forgotten now
  public boolean count(AppId app, Channel channel, boolean dead) {
    Instant now = clock.instant();
    Window after =
        windows.compute(
            new Key(app, channel),
            (key, before) -> {
              Window window =
                  before == null || before.from().plus(WINDOW).isBefore(now)
                      ? new Window(now, 0, 0, before == null ? Instant.EPOCH : before.openUntil())
                      : before;
              int sends = window.sends() + 1;
              int died = window.dead() + (dead ? 1 : 0);
              boolean opens = sends >= FEWEST_SENDS && died * 100 > sends * MOST_DEAD_PERCENT;
              return new Window(
                  window.from(), sends, died, opens ? now.plus(OPEN) : window.openUntil());
            });
    return after.openUntil().isAfter(now);
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
