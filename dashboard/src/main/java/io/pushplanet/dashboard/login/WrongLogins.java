package io.pushplanet.dashboard.login;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.dashboard.DashboardSettings;
import io.pushplanet.dashboard.audit.AuditAction;
import io.pushplanet.dashboard.audit.AuditLog;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/// Counts wrong logins by name and by address, and writes them down. So many of a name lock it; so many from an address, and names
/// that are made up there are not written down any more. What a lock refuses is not either: each line would be as cheap for a
/// stranger as its request.
/// Addresses are this process's own affair, the names that of all. Thread-safe.
@Service
class WrongLogins {
  static final int MOST_OF_A_NAME = 5;
  static final Duration LOCK = Duration.ofMinutes(15);

  /// Past it the least seen are forgotten.
  private static final int MOST_ADDRESSES = 10_000;

  private static final int LONGEST_ADDRESS = 64;

  /// What a provider gives to one customer.
  private static final int NETWORK_BYTES_OF_IPV6 = 8;

  private final OperatorMapper operators;
  private final AuditLog audit;
  private final Clock clock;
  private final int mostOfAnAddress;
  private final Cache<String, AtomicInteger> addresses;

  WrongLogins(OperatorMapper operators, AuditLog audit, Clock clock, DashboardSettings settings) {
    this.operators = operators;
    this.audit = audit;
    this.clock = clock;
    this.mostOfAnAddress = settings.mostWrongLogins();
    this.addresses =
        Caffeine.newBuilder()
            .expireAfterWrite(LOCK)
            .maximumSize(MOST_ADDRESSES)
            .ticker(() -> TimeUnit.MILLISECONDS.toNanos(clock.millis()))
            .build();
  }

  boolean tooManyFrom(String address) {
    AtomicInteger wrong = addresses.getIfPresent(networkOf(address));
    return wrong != null && wrong.get() >= mostOfAnAddress;
  }

  /// @param name which was tried last
  void from(String address, String name) {
    String network = networkOf(address);
    if (addresses.get(network, _ -> new AtomicInteger()).incrementAndGet() == mostOfAnAddress) {
      audit.record(
          name,
          AuditAction.LOGIN_LOCKED,
          network,
          "address after " + mostOfAnAddress + " failures");
    }
  }

  void ofUnknown(String name) {
    audit.record(name, AuditAction.LOGIN_FAILED, name, "unknown name");
  }

  /// In a transaction, so that one of those who fail at once finds that it has locked the name.
  ///
  /// @return whether the name is locked now
  @Transactional
  boolean lockAfter(String name, String why) {
    Instant now = clock.instant();
    if (operators.failed(name, now, MOST_OF_A_NAME, now.plus(LOCK)) == 0) {
      return true;
    }
    audit.record(name, AuditAction.LOGIN_FAILED, name, why);
    boolean locks = operators.find(name).filter(operator -> operator.isLocked(now)).isPresent();
    if (locks) {
      audit.record(
          name, AuditAction.LOGIN_LOCKED, name, "locked after " + MOST_OF_A_NAME + " failures");
    }
    return locks;
  }

  /// Whoever has an address of IPv6 has 2^64 of them.
  private static String networkOf(String address) {
    try {
      if (InetAddress.ofLiteral(address) instanceof Inet6Address ipv6) {
        byte[] network = Arrays.copyOf(ipv6.getAddress(), NETWORK_BYTES_OF_IPV6);
        return HexFormat.of().formatHex(network) + "::/64";
      }
    } catch (IllegalArgumentException e) {
      // What a proxy made up.
    }
    return address.substring(0, Math.min(address.length(), LONGEST_ADDRESS));
  }
}
