package io.pushplanet.cm.transport.gate;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/// Decides about a new socket by its address alone: before TLS, before a byte is read. So a flood
/// of bots costs an accept each, not a handshake (https://github.com/HarperFast/harper/issues/345).
/// Thread-safe, lock-free.
public final class AcceptGate {
  private static final long SHORTEST_HOLD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LONGEST_HOLD_NANOS = TimeUnit.SECONDS.toNanos(3);
  private static final int SHORTEST_RETRY_SECONDS = 2;
  private static final int LONGEST_RETRY_SECONDS = 30;
  private static final int FAILURES_BURST_SECONDS = 10;

  /// How a socket is treated.
  public enum Verdict {
    ADMITTED,
    ADDRESS_TOO_FAST,
    ADDRESS_FAILED_TOO_OFTEN
  }

  private final GateSettings settings;
  private final long startNanos;
  private final RandomGenerator random;
  private final AddressRates connects;
  private final AddressRates connectsAtTrusted;
  private final AddressRates failures;
  private final List<AddressBlock> unlimited;

  /// @param random used by several threads
  public AcceptGate(GateSettings settings, long startNanos, RandomGenerator random) {
    this.settings = settings;
    this.startNanos = startNanos;
    this.random = random;
    this.connects = connects(settings, startNanos, random);
    this.connectsAtTrusted = connects(settings, startNanos, random);
    this.failures =
        new AddressRates(
            settings.addressFailuresPerSecond(),
            settings.addressFailuresPerSecond() * FAILURES_BURST_SECONDS,
            startNanos,
            random.nextLong());
    this.unlimited = AddressBlock.parseAll(settings.unlimitedSources());
  }

  private static AddressRates connects(
      GateSettings settings, long startNanos, RandomGenerator random) {
    return new AddressRates(
        settings.addressConnectsPerSecond(),
        settings.addressBurst(),
        startNanos,
        random.nextLong());
  }

  /// Judges a connection to a devices' listener.
  public Verdict judge(InetAddress source, long nowNanos) {
    if (isUnlimited(source)) {
      return Verdict.ADMITTED;
    }
    if (failures.isSpent(source, nowNanos)) {
      return Verdict.ADDRESS_FAILED_TOO_OFTEN;
    }
    return connects.take(source, nowNanos) ? Verdict.ADMITTED : Verdict.ADDRESS_TOO_FAST;
  }

  /// Judges a connection to the gateways' listener. Limits that an address has exceeded at the
  /// devices' listeners do not apply here: devices and gateways may share a load balancer or a NAT.
  public Verdict judgeAtTrusted(InetAddress source, long nowNanos) {
    return isUnlimited(source) || connectsAtTrusted.take(source, nowNanos)
        ? Verdict.ADMITTED
        : Verdict.ADDRESS_TOO_FAST;
  }

  /// A client at this address sent an invalid credential.
  public void failed(InetAddress source, long nowNanos) {
    if (!isUnlimited(source)) {
      failures.take(source, nowNanos);
    }
  }

  /// Whether so many credentials from this address were wrong that no further one is checked now.
  public boolean failsTooOften(InetAddress source, long nowNanos) {
    return !isUnlimited(source) && failures.isSpent(source, nowNanos);
  }

  /// Makes a rate for one listener. Its burst is a tenth of a second's worth.
  public Rate listenerRate() {
    return new Rate(
        settings.connectsPerSecond(), Math.max(1, settings.connectsPerSecond() / 10), startNanos);
  }

  /// The length of a listener's accept queue: the connections that are accepted within two seconds.
  /// In a longer one, clients would have given up before their turn, and only dead connections
  /// would be served (https://github.com/emqx/emqx/issues/14145,
  /// https://github.com/memcached/memcached/issues/1139).
  public int backlog(int configured, int loops) {
    int rate = settings.connectsPerSecond();
    return rate == 0
        ? configured
        : Math.clamp(2L * rate / loops, Math.min(16, configured), configured);
  }

  public int maxHeld() {
    return settings.maxHeld();
  }

  /// How long a refused socket is kept: long enough to slow down a hasty client, and random, so
  /// that clients do not come back together.
  public long holdNanos() {
    return random.nextLong(SHORTEST_HOLD_NANOS, LONGEST_HOLD_NANOS);
  }

  /// When a refused client should try again.
  public Duration retryAfter() {
    return Duration.ofSeconds(random.nextInt(SHORTEST_RETRY_SECONDS, LONGEST_RETRY_SECONDS));
  }

  private boolean isUnlimited(InetAddress source) {
    for (AddressBlock block : unlimited) {
      if (block.contains(source)) {
        return true;
      }
    }
    return false;
  }
}
