package io.pushplanet.dispatcher.audience;

import com.github.benmanes.caffeine.cache.AsyncLoadingCache;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Expiry;
import com.github.benmanes.caffeine.cache.Ticker;
import io.pushplanet.common.device.DeviceId;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.wire.WireForm;
import io.pushplanet.dispatcher.limit.AppBulkheads;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;

/// Counts approximately how many devices a broad audience has, for the answer to its sender. All
/// requests to one audience share a count, which is reused for twenty times as long as counting
/// took: a small audience is always counted, and a large one that gets two hundred messages a
/// second takes a twentieth of one connection. The counts of one app wait for each other, and not
/// those of other apps for them. Thread-safe.
final class AudienceCounts {
  private static final Logger LOG = LoggerFactory.getLogger(AudienceCounts.class);

  /// Up to this number a count is exact. Counting further would cost too much.
  private static final int MAX_COUNTED = 50_000;

  /// All requests share the connections to MySQL. Counts leave most of them to other requests, and
  /// those of one app leave half of these to other apps.
  private static final int MAX_COUNTING = 2;

  /// How many counts wait; of one app half of that. A further one fails at once.
  static final int MAX_IN_LINE = 400;

  private static final int TIMES_AS_LONG = 20;

  /// The longest time for which a count is reused, however long counting took, and the time for
  /// which a failed count is not tried again.
  static final Duration FRESH = Duration.ofSeconds(5);

  /// How long the former count is kept after it was last asked for. It is given while there is no
  /// newer count.
  private static final Duration KEPT = Duration.ofMinutes(1);

  /// How long a request with a former count waits for a new one.
  private static final Duration PATIENCE = Duration.ofMillis(100);

  /// In bytes of audiences in their wire form: one may name 32,000 users.
  private static final long MAX_KEPT = 2L * 1024 * 1024;

  private static final int BYTES_AROUND = 200;

  /// The least time between two warnings in the log.
  static final Duration QUIET = Duration.ofMinutes(1);

  private final AudienceMapper mapper;
  private final Ticker ticker;
  private final Duration longestWait;
  private final AppBulkheads counting;
  private final AtomicLong warnedAtNanos;
  private final AsyncLoadingCache<Asked, Count> counts;
  private final Cache<Asked, Integer> former;

  /// @param counters the executor of the counts, which block
  /// @param longestWait how long a caller waits for a count, and a count in each of the two lines,
  ///     its app's and the one of all apps
  AudienceCounts(AudienceMapper mapper, Ticker ticker, Executor counters, Duration longestWait) {
    this.mapper = mapper;
    this.ticker = ticker;
    this.longestWait = longestWait;
    this.counting =
        new AppBulkheads(
            MAX_COUNTING,
            MAX_IN_LINE,
            longestWait,
            ProblemCode.OVERLOADED,
            "Too many audiences are counted just now.");
    this.warnedAtNanos = new AtomicLong(ticker.read() - QUIET.toNanos());
    this.counts =
        bounded(ticker, counters)
            .expireAfter(Expiry.creating((Asked _, Count count) -> count.fresh()))
            .buildAsync(this::count);
    this.former = bounded(ticker, counters).expireAfterAccess(KEPT).build();
  }

  private static Caffeine<Asked, Object> bounded(Ticker ticker, Executor executor) {
    return Caffeine.newBuilder()
        .maximumWeight(MAX_KEPT)
        .<Asked, Object>weigher(
            (asked, _) -> BYTES_AROUND + WireForm.write(asked.audience()).length)
        .ticker(ticker)
        .executor(executor);
  }

  private record Asked(AppId app, Audience audience) {}

  /// @param devices empty when counting failed
  private record Count(OptionalInt devices, Duration fresh) {}

  /// Until when a request that begins now waits for its counts, however many audiences it names.
  long waitUntilNanos() {
    return ticker.read() + longestWait.toNanos();
  }

  /// @param untilNanos from [#waitUntilNanos]; after it no new count begins, and only a known count
  ///     is given
  /// @return empty when there is no count: MySQL is away, or other counts take too long
  OptionalInt about(AppId app, Audience audience, long untilNanos) {
    var asked = new Asked(app, audience);
    Integer before = former.getIfPresent(asked);
    long leftNanos = untilNanos - ticker.read();
    long waitNanos = before == null ? leftNanos : Math.min(leftNanos, PATIENCE.toNanos());
    OptionalInt now;
    try {
      now = count(asked, waitNanos).devices();
    } catch (TimeoutException e) {
      now = before == null ? notCounted("slow") : OptionalInt.empty();
    } catch (ExecutionException e) {
      now = notCounted(String.valueOf(e.getCause()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      now = notCounted("interrupted");
    }
    return now.isEmpty() && before != null ? OptionalInt.of(before) : now;
  }

  private Count count(Asked asked, long waitNanos)
      throws ExecutionException, InterruptedException, TimeoutException {
    CompletableFuture<Count> count = waitNanos > 0 ? counts.get(asked) : counts.getIfPresent(asked);
    if (count == null) {
      throw new TimeoutException();
    }
    return count.get(Math.max(0, waitNanos), TimeUnit.NANOSECONDS);
  }

  private Count count(Asked asked) {
    long start = ticker.read();
    OptionalInt devices = devices(asked);
    if (devices.isEmpty()) {
      return new Count(devices, FRESH);
    }
    former.put(asked, devices.getAsInt());
    Duration twentyTimes = Duration.ofNanos(TIMES_AS_LONG * (ticker.read() - start));
    return new Count(devices, twentyTimes.compareTo(FRESH) < 0 ? twentyTimes : FRESH);
  }

  private OptionalInt devices(Asked asked) {
    try {
      return OptionalInt.of(
          counting.call(asked.app(), 1, () -> atMost(asked.app(), asked.audience())));
    } catch (DataAccessException e) {
      return notCounted(e.getClass().getSimpleName());
    } catch (ProblemException e) {
      return notCounted("busy");
    }
  }

  private OptionalInt notCounted(String why) {
    long now = ticker.read();
    long last = warnedAtNanos.get();
    if (now - last >= QUIET.toNanos() && warnedAtNanos.compareAndSet(last, now)) {
      LOG.warn("event=audience_not_counted reason=\"{}\"", why);
    }
    return OptionalInt.empty();
  }

  /// An upper bound: which devices `and` and `not` exclude is known only when the fan-out has
  /// looked at each of them.
  private int atMost(AppId app, Audience audience) {
    return switch (audience) {
      case Audience.Devices(List<DeviceId> devices) -> devices.size();
      case Audience.SpreadByVendor _ -> 1;
      case Audience.Users(List<String> users) -> mapper.countUsers(app.value(), users, MAX_COUNTED);
      case Audience.Topic(String topic) -> mapper.countTopic(app.value(), topic, MAX_COUNTED);
      case Audience.Tag(String tag) -> mapper.countTag(app.value(), tag, MAX_COUNTED);
      case Audience.And(List<Audience> parts) ->
          parts.stream().mapToInt(part -> atMost(app, part)).min().orElse(0);
      case Audience.Or(List<Audience> parts) ->
          Math.min(
              parts.stream().mapToInt(part -> atMost(app, part)).sum(),
              mapper.countAll(app.value(), MAX_COUNTED));
      case Audience.All(), Audience.Not _ -> mapper.countAll(app.value(), MAX_COUNTED);
    };
  }
}
