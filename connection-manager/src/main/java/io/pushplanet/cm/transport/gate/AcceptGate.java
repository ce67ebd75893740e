package io.pushplanet.cm.transport.gate;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/// Decides about a socket when nothing is known of it but where it comes from: before TLS, before a byte is read. What a
/// flood of bots costs is then an accept, not a handshake (https://github.com/HarperFast/harper/issues/345).
/// Thread-safe, lock-free.
public final class AcceptGate {
  private static final long SHORTEST_HOLD = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LONGEST_HOLD = TimeUnit.SECONDS.toNanos(3);
  private static final int SHORTEST_RETRY_SECONDS = 2;
  private static final int LONGEST_RETRY_SECONDS = 30;
  private static final int FAILURES_BURST_SECONDS = 10;

  /// What becomes of a socket.
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

  /// @param random used from several threads
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

  /// Somebody comes to a device's door.
  public Verdict judge(InetAddress source, long nowNanos) {
    if (isUnlimited(source)) {
      return Verdict.ADMITTED;
    }
    if (failures.isSpent(source, nowNanos)) {
      return Verdict.ADDRESS_FAILED_TOO_OFTEN;
    }
    return connects.take(source, nowNanos) ? Verdict.ADMITTED : Verdict.ADDRESS_TOO_FAST;
  }

  /// Somebody comes to the door of our own programs. What an address does at the devices' doors does not close this one to it:
  /// devices and gateways may share a balancer or a NAT.
  public Verdict judgeAtTrusted(InetAddress source, long nowNanos) {
    return isUnlimited(source) || connectsAtTrusted.take(source, nowNanos)
        ? Verdict.ADMITTED
        : Verdict.ADDRESS_TOO_FAST;
  }

  /// Somebody there showed a credential that is none.
  public void failed(InetAddress source, long nowNanos) {
    if (!isUnlimited(source)) {
      failures.take(source, nowNanos);
    }
  }

  /// Whether so many credentials from there were wrong that no further one is looked at now.
  public boolean failsTooOften(InetAddress source, long nowNanos) {
    return !isUnlimited(source) && failures.isSpent(source, nowNanos);
  }

  /// A rate of its own for one listener. Its burst is a tenth of a second's worth.
  public Rate listenerRate() {
    return new Rate(
        settings.connectsPerSecond(), Math.max(1, settings.connectsPerSecond() / 10), startNanos);
  }

  /// How long the line before a listener may be: what is admitted within two seconds. In a longer one everybody would have
  /// given up by their turn, and only the dead be served (https://github.com/emqx/emqx/issues/14145,
  /// https://github.com/memcached/memcached/issues/1139).
  public int backlog(int configured, int loops) {
    int rate = settings.connectsPerSecond();
    return rate == 0
        ? configured
        : Math.clamp(2L * rate / loops, Math.min(16, configured), configured);
  }

  public int mostHeld() {
    return settings.mostHeld();
  }

  /// How long a socket that was turned away is kept: long enough that a client in a hurry is slowed down, and never the
  /// same for two, so that they do not come back together.
  public long holdNanos() {
    return random.nextLong(SHORTEST_HOLD, LONGEST_HOLD);
  }

  /// When a client that was told why it cannot come in should try again.
  public Duration retryAfter() {
    return Duration.ofSeconds(random.nextInt(SHORTEST_RETRY_SECONDS, LONGEST_RETRY_SECONDS));
  }

  private boolean isUnlimited(InetAddress source) {
    for (var block : unlimited) {
      if (block.contains(source)) {
        return true;
      }
    }
    return false;
  }
}
