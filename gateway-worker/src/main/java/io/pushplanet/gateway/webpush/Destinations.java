package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// Decides whether an endpoint may be asked, and at which address. Whoever registers a device names its endpoint, so it could
/// name our own network: a host with any address that is not public is refused, and the connection is made to the address
/// that was looked at, never to the name, so that a second look-up cannot answer something else.
///
/// Thread-safe. A look-up blocks the caller at most for the connect timeout; few are under way at a time, because the
/// JDK's hold a platform thread.
final class Destinations implements AutoCloseable {
  /// What came of asking for a host.
  sealed interface Destination {
    /// @param address checked; connect to this one
    record Allowed(InetAddress address) implements Destination {}

    /// Never to be asked.
    record Refused(String why) implements Destination {}

    /// The name has no address just now.
    record Unknown(String why) implements Destination {}
  }

  /// The JDK's name service, in tests another.
  @FunctionalInterface
  interface NameService {
    InetAddress[] addresses(String host) throws UnknownHostException;
  }

  /// Long enough that a connection is used again, short enough to follow a push service that moves.
  private static final Duration KNOWN_FOR = Duration.ofMinutes(1);

  private static final int MOST_HOSTS = 10_000;
  private static final int LOOKUPS = 8;
  private static final int MOST_WAITING_LOOKUPS = 256;
  private static final String ANY_BELOW = "*.";

  private final Set<String> trustedOrigins = new HashSet<>();
  private final List<String> allowedHosts;
  private final Duration deadline;
  private final NameService names;
  private final ThreadPoolExecutor lookups =
      new ThreadPoolExecutor(
          LOOKUPS,
          LOOKUPS,
          1,
          TimeUnit.MINUTES,
          new ArrayBlockingQueue<>(MOST_WAITING_LOOKUPS),
          Thread.ofPlatform().daemon().name("webpush-names-", 0).factory());
  private final AsyncCache<String, List<InetAddress>> known =
      Caffeine.newBuilder().maximumSize(MOST_HOSTS).expireAfterWrite(KNOWN_FOR).buildAsync();

  Destinations(WebPushSettings settings, NameService names) {
    settings.trustedOrigins().forEach(it -> trustedOrigins.add(BrowserSubscription.origin(it)));
    this.allowedHosts =
        settings.allowedHosts().stream().map(host -> host.toLowerCase(Locale.ROOT)).toList();
    this.deadline = settings.connectTimeout();
    this.names = names;
    lookups.allowCoreThreadTimeOut(true);
  }

  /// @param attempt how often the message was tried before: each try takes the host's next address
  Destination find(BrowserSubscription browser, int attempt) {
    boolean trusted = trustedOrigins.contains(browser.origin());
    if (!trusted && !isAllowed(browser.host())) {
      return new Destination.Refused("host_not_allowed");
    }
    try {
      List<InetAddress> addresses =
          known
              .get(
                  browser.host(),
                  (host, _) -> CompletableFuture.supplyAsync(() -> lookedUp(host), lookups))
              .get(deadline.toMillis(), TimeUnit.MILLISECONDS);
      // One private address is enough: the next answer of the same name may hold only that.
      if (!trusted && !addresses.stream().allMatch(PublicAddress::is)) {
        return new Destination.Refused("private_address");
      }
      return new Destination.Allowed(addresses.get(attempt % addresses.size()));
    } catch (ExecutionException e) {
      return new Destination.Unknown("unknown_host");
    } catch (TimeoutException e) {
      return new Destination.Unknown("lookup_timeout");
    } catch (RejectedExecutionException e) {
      return new Destination.Unknown("lookups_busy");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Destination.Unknown("interrupted");
    }
  }

  private boolean isAllowed(String host) {
    return allowedHosts.isEmpty()
        || allowedHosts.stream()
            .anyMatch(allowed ->
                allowed.startsWith(ANY_BELOW)
                    ? host.endsWith(allowed.substring(1))
                    : host.equals(allowed));
  }

  private List<InetAddress> lookedUp(String host) {
    try {
      List<InetAddress> addresses = Arrays.asList(names.addresses(host));
      if (addresses.isEmpty()) {
        throw new UnknownHostException(host);
      }
      return addresses;
    } catch (UnknownHostException e) {
      throw new CompletionException(e);
    }
  }

  @Override
  public void close() {
    lookups.shutdownNow();
  }
}
