package io.pushplanet.gateway.webpush;

import com.github.benmanes.caffeine.cache.AsyncCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.LoadingCache;
import com.github.benmanes.caffeine.cache.Ticker;
import io.pushplanet.common.message.AppId;
import io.pushplanet.gateway.connection.Names.NameService;
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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Decides whether an endpoint may be reached, and at which address. The caller that registers a
/// device names its endpoint, so it could name our own network. So a host with any address that is
/// not public is refused, and the connection is made to the checked address, never to the name,
/// because a second look-up could answer something else.
///
/// Thread-safe. A look-up blocks the caller at most for the connect timeout. Only few are under way
/// at a time, because the JDK's hold a platform thread, and fewer of one app, because an app may
/// name hosts whose name servers never answer.
final class Destinations implements AutoCloseable {
  /// The result of looking up a host.
  sealed interface Destination {
    /// @param addresses checked; connect to none but these
    record Allowed(List<InetAddress> addresses) implements Destination {}

    /// Never to be reached.
    record Refused(String why) implements Destination {}

    /// The name has no address now.
    record Unknown(String why) implements Destination {}

    /// The host was not looked up, which says nothing about it.
    record NotNow(String why) implements Destination {}
  }

  /// Long enough that a connection is used again, short enough to follow a push service that moves.
  private static final Duration KNOWN_FOR = Duration.ofMinutes(1);

  /// For how long a host's former address is used when the look-up takes longer than [#A_MOMENT]:
  /// hosts whose name servers never answer must not keep messages from a push service that was
  /// found before.
  private static final Duration REMEMBERED_FOR = Duration.ofHours(6);

  private static final Duration A_MOMENT = Duration.ofMillis(250);

  private static final int MAX_HOSTS = 10_000;
  static final int LOOKUPS = 8;
  static final int MAX_LOOKUPS_OF_AN_APP = 2;
  private static final int MAX_WAITING_LOOKUPS = 256;
  private static final String ANY_BELOW = "*.";
  private static final String TIMEOUT = "lookup_timeout";

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
          new ArrayBlockingQueue<>(MAX_WAITING_LOOKUPS),
          Thread.ofPlatform().daemon().name("webpush-names-", 0).factory());
  private final AsyncCache<String, List<InetAddress>> known;

  /// The addresses that were found last.
  private final Cache<String, List<InetAddress>> remembered;

  /// Hosts that are being looked up now.
  private final Set<String> asking = ConcurrentHashMap.newKeySet();

  /// An app's permits to look up; kept while a caller has one or waits for one.
  private final LoadingCache<AppId, Semaphore> turns =
      Caffeine.newBuilder().weakValues().build(_ -> new Semaphore(MAX_LOOKUPS_OF_AN_APP, true));

  Destinations(WebPushSettings settings, NameService names, Ticker ticker) {
    this.known =
        Caffeine.newBuilder()
            .maximumSize(MAX_HOSTS)
            .ticker(ticker)
            .expireAfterWrite(KNOWN_FOR)
            .buildAsync();
    this.remembered =
        Caffeine.newBuilder()
            .maximumSize(MAX_HOSTS)
            .ticker(ticker)
            .expireAfterWrite(REMEMBERED_FOR)
            .build();
    settings.trustedOrigins().forEach(it -> trustedOrigins.add(BrowserSubscription.origin(it)));
    this.allowedHosts =
        settings.allowedHosts().stream().map(host -> host.toLowerCase(Locale.ROOT)).toList();
    this.deadline = settings.connectTimeout();
    this.names = names;
    lookups.allowCoreThreadTimeOut(true);
  }

  Destination find(AppId app, BrowserSubscription browser) {
    boolean trusted = trustedOrigins.contains(browser.origin());
    if (!trusted && !isAllowed(browser.host())) {
      return new Destination.Refused("host_not_allowed");
    }
    List<InetAddress> before = remembered.getIfPresent(browser.host());
    if (before == null) {
      return lookedUp(app, browser, deadline, trusted);
    }
    return switch (lookedUp(app, browser, A_MOMENT, trusted)) {
      case Destination.NotNow _ -> allowed(before, trusted);
      case Destination.Unknown(String why) when why.equals(TIMEOUT) -> allowed(before, trusted);
      case Destination found -> found;
    };
  }

  private Destination lookedUp(
      AppId app, BrowserSubscription browser, Duration within, boolean trusted) {
    long endNanos = System.nanoTime() + within.toNanos();
    try {
      CompletableFuture<List<InetAddress>> found = addresses(app, browser.host(), endNanos);
      if (found == null) {
        return new Destination.NotNow("lookups_busy");
      }
      return allowed(found.get(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS), trusted);
    } catch (ExecutionException e) {
      return e.getCause() instanceof RejectedExecutionException
          ? new Destination.NotNow("lookups_busy")
          : new Destination.Unknown("unknown_host");
    } catch (TimeoutException e) {
      // Otherwise the time went by while it waited for a permit.
      return asking.contains(browser.host())
          ? new Destination.Unknown(TIMEOUT)
          : new Destination.NotNow("lookups_busy");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return new Destination.NotNow("interrupted");
    }
  }

  private static Destination allowed(List<InetAddress> addresses, boolean trusted) {
    // One private address is enough to refuse: the name's next answer may hold only that.
    return trusted || addresses.stream().allMatch(PublicAddress::is)
        ? new Destination.Allowed(addresses)
        : new Destination.Refused("private_address");
  }

  /// The result that is known or under way, or else a look-up when the app has a permit.
  ///
  /// @return null when there was no permit while there was time for a look-up
  private @Nullable CompletableFuture<List<InetAddress>> addresses(
      AppId app, String host, long endNanos) throws InterruptedException {
    CompletableFuture<List<InetAddress>> before = known.getIfPresent(host);
    if (before != null) {
      return before;
    }
    Semaphore turn = turns.get(app);
    if (!turn.tryAcquire((endNanos - System.nanoTime()) / 2, TimeUnit.NANOSECONDS)) {
      return null;
    }
    CompletableFuture<List<InetAddress>> mine = new CompletableFuture<>();
    CompletableFuture<List<InetAddress>> other = known.asMap().putIfAbsent(host, mine);
    if (other != null) {
      turn.release();
      return other;
    }
    try {
      lookups.execute(() -> {
        lookUp(host, mine);
        turn.release();
      });
    } catch (RejectedExecutionException | Error e) {
      mine.completeExceptionally(e);
      turn.release();
    }
    return mine;
  }

  private boolean isAllowed(String host) {
    return allowedHosts.isEmpty()
        || allowedHosts.stream()
            .anyMatch(allowed ->
                allowed.startsWith(ANY_BELOW)
                    ? host.endsWith(allowed.substring(1))
                    : host.equals(allowed));
  }

  private void lookUp(String host, CompletableFuture<List<InetAddress>> found) {
    asking.add(host);
    try {
      List<InetAddress> addresses = Arrays.asList(names.addresses(host));
      if (addresses.isEmpty()) {
        throw new UnknownHostException(host);
      }
      remembered.put(host, addresses);
      found.complete(addresses);
    } catch (Throwable e) {
      found.completeExceptionally(e);
    } finally {
      asking.remove(host);
    }
  }

  @Override
  public void close() {
    lookups.shutdownNow();
  }
}
