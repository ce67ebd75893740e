package io.pushplanet.gateway.connection;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Ticker;
import java.net.InetAddress;
import java.time.Duration;
import java.util.List;

/// Chooses one of a host's addresses to connect to: the first that was not out of reach just
/// before. A name service goes on returning a dead address, and may return it first. Thread-safe.
final class LiveAddresses {
  static final Duration AVOIDED_FOR = Duration.ofMinutes(1);
  private static final int MAX = 10_000;

  private final Cache<InetAddress, Boolean> outOfReach;

  LiveAddresses(Ticker ticker) {
    this.outOfReach =
        Caffeine.newBuilder().maximumSize(MAX).ticker(ticker).expireAfterWrite(AVOIDED_FOR).build();
  }

  /// @param addresses at least one, in the order of the name service
  /// @param attempt how often the message was tried before: each try begins with the next address
  InetAddress choose(List<InetAddress> addresses, int attempt) {
    int count = addresses.size();
    int first = Math.floorMod(attempt, count);
    for (int passed = 0; passed < count; passed++) {
      InetAddress address = addresses.get((first + passed) % count);
      if (outOfReach.getIfPresent(address) == null) {
        return address;
      }
    }
    return addresses.get(first);
  }

  void failed(InetAddress address) {
    outOfReach.put(address, true);
  }
}
