package io.pushplanet.cm.keepalive;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;
import java.util.regex.Pattern;

/// The networks of recent devices: the mobile operator if the device names it (its MCC and MNC,
/// five or six digits), else the block of its address, a /24 or /48. Above the limit, the longest
/// unused networks are forgotten. Thread-safe.
public final class Networks {
  private static final Pattern OPERATOR = Pattern.compile("[0-9]{5,6}");
  private static final long IPV4 = 1L << 48;
  private static final long IPV6 = 2L << 48;
  private static final long OPERATORS = 3L << 48;

  private final int most;
  private final InstantSource clock;
  private final RandomGenerator random;
  private final Map<Long, Network> networks = new ConcurrentHashMap<>();
  private final ReentrantLock forgetting = new ReentrantLock();
  private final Counter longer;
  private final Counter shorter;
  private final Counter asWished;

  /// @param most networks remembered
  public Networks(int most, InstantSource clock, RandomGenerator random, MeterRegistry meters) {
    this.most = most;
    this.clock = clock;
    this.random = random;
    this.longer = meters.counter("cm.keepalive.advised", "interval", "longer");
    this.shorter = meters.counter("cm.keepalive.advised", "interval", "shorter");
    this.asWished = meters.counter("cm.keepalive.advised", "interval", "as_wished");
    Gauge.builder("cm.keepalive.networks", networks, Map::size).register(meters);
  }

  public Network of(InetAddress address, Optional<String> operator) {
    Network network = networks.computeIfAbsent(key(address, operator), _ -> new Network(clock));
    if (networks.size() > most) {
      forget();
    }
    return network;
  }

  /// The keep-alive to tell a device in this network.
  public int advise(Network network, int wishedSeconds) {
    int advised = network.advise(wishedSeconds, random);
    (advised > wishedSeconds ? longer : advised < wishedSeconds ? shorter : asWished).increment();
    return advised;
  }

  int size() {
    return networks.size();
  }

  private static long key(InetAddress address, Optional<String> operator) {
    if (operator.isPresent() && OPERATOR.matcher(operator.get()).matches()) {
      // The length matters: 45005 and 045005 are different operators.
      return OPERATORS + operator.get().length() * 1_000_000L + Long.parseLong(operator.get());
    }
    byte[] bytes = address.getAddress();
    boolean ipv4 = address instanceof Inet4Address;
    long block = 0;
    for (int index = 0; index < (ipv4 ? 3 : 6); index++) {
      block = (block << 8) | (bytes[index] & 0xFF);
    }
    return (ipv4 ? IPV4 : IPV6) + block;
  }

  private record Used(long key, long millis) {}

  /// Forgets an eighth at once, so that it happens rarely.
  private void forget() {
    if (!forgetting.tryLock()) {
      return;
    }
    try {
      // Each time is read once, because other loops use the networks meanwhile.
      networks.entrySet().stream()
          .map(entry -> new Used(entry.getKey(), entry.getValue().usedMillis()))
          .sorted(Comparator.comparingLong(Used::millis))
          .limit(Math.max(1, most / 8))
          .forEach(used -> networks.remove(used.key()));
    } finally {
      forgetting.unlock();
    }
  }
}
