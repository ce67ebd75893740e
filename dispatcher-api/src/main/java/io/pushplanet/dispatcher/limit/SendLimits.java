package io.pushplanet.dispatcher.limit;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.pushplanet.common.message.AppId;
import io.pushplanet.dispatcher.problem.ProblemCode;
import io.pushplanet.dispatcher.problem.ProblemException;
import io.pushplanet.dispatcher.settings.DispatcherSettings;
import jakarta.servlet.http.HttpServletResponse;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import org.springframework.stereotype.Component;

/// A token bucket per app: one second's worth of messages at most. A message counts once, for however many devices it is; a batch
/// counts each of its own, and one of more than the bucket holds is let through when that is full, and paid off before the next. Off
/// unless `dispatcher.messages-per-second` is set. It holds for this process alone. Thread-safe.
@Component
public class SendLimits {
  private static final Duration IDLE = Duration.ofMinutes(1);

  /// Messages of a batch.
  private static final int MOST_AT_ONCE = 1_000;

  private static final int MOST_APPS = 100_000;

  private final int perSecond;
  private final Clock clock;
  private final Cache<AppId, Bucket> buckets;

  SendLimits(DispatcherSettings settings, Clock clock) {
    this.perSecond = settings.messagesPerSecond();
    this.clock = clock;
    this.buckets =
        Caffeine.newBuilder().maximumSize(MOST_APPS).expireAfterAccess(kept(perSecond)).build();
  }

  /// A bucket is forgotten no sooner than what it owes for a batch is paid off.
  static Duration kept(int perSecond) {
    return IDLE.plusSeconds(MOST_AT_ONCE / Math.max(1, perSecond));
  }

  private record Bucket(double left, Instant at) {}

  /// Takes `messages` out of the app's bucket and tells in the answer's headers what is left
  /// (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/): `t` is when a message is let through again, or where
  /// this one was refused when this is, as Retry-After says.
  ///
  /// @throws ProblemException 429 when there are not as many
  public void take(AppId app, int messages, HttpServletResponse answer) {
    if (perSecond == 0) {
      return;
    }
    Instant now = clock.instant();
    boolean[] enough = new boolean[1];
    Bucket bucket =
        buckets
            .asMap()
            .compute(
                app,
                (key, before) -> {
                  double left = before == null ? perSecond : refilled(before, now);
                  // More than a bucket holds at once is let through when it is full, and owed.
                  enough[0] = left >= Math.min(messages, perSecond);
                  return new Bucket(enough[0] ? left - messages : left, now);
                });
    answer.setHeader(
        "RateLimit-Policy", String.format(Locale.ROOT, "\"messages\";q=%d;w=1", perSecond));
    double wanted = enough[0] ? 1 : Math.min(messages, perSecond);
    Duration until =
        Duration.ofMillis((long) Math.ceil(1_000 * (wanted - bucket.left()) / perSecond));
    answer.setHeader(
        "RateLimit",
        String.format(
            Locale.ROOT,
            "\"messages\";r=%d;t=%d",
            Math.max(0, (long) bucket.left()),
            ProblemException.wholeSeconds(until)));
    if (!enough[0]) {
      throw ProblemException.retryable(
          ProblemCode.RATE_LIMITED,
          "This app may send " + perSecond + " messages a second. Send it again later.",
          until,
          null);
    }
  }

  private double refilled(Bucket bucket, Instant now) {
    double seconds = Math.max(0, Duration.between(bucket.at(), now).toMillis() / 1_000.0);
    return Math.min(perSecond, bucket.left() + seconds * perSecond);
  }
}
