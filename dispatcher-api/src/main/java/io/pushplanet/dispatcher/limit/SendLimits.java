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

/// Limits how many messages an app may send: a token bucket for each app, which holds one second's
/// worth of messages. A message counts once, for however many devices it is, and a batch counts
/// each of its messages. A batch of more messages than the bucket holds passes when the bucket is
/// full, and the excess is paid off before the next request. What sends nothing new does not count:
/// a repeat that gets the answer of its Idempotency-Key, and a dead letter that an operator
/// replays, which goes to its queue without this process. The limit is off unless
/// `dispatcher.messages-per-second` is set, and applies to this process alone. Thread-safe.
@Component
public class SendLimits {
  private static final Duration IDLE = Duration.ofMinutes(1);

  /// The most messages of a batch.
  private static final int MAX_AT_ONCE = 1_000;

  private static final int MAX_APPS = 100_000;

  private final int perSecond;
  private final Clock clock;
  private final Cache<AppId, Bucket> buckets;

  SendLimits(DispatcherSettings settings, Clock clock) {
    this.perSecond = settings.messagesPerSecond();
    this.clock = clock;
    this.buckets =
        Caffeine.newBuilder().maximumSize(MAX_APPS).expireAfterAccess(kept(perSecond)).build();
  }

  /// A bucket is kept at least until its debt for a batch is paid off.
  static Duration kept(int perSecond) {
    return IDLE.plusSeconds(MAX_AT_ONCE / Math.max(1, perSecond));
  }

  private record Bucket(double left, Instant at) {}

  /// Takes `messages` out of the bucket of the app, and reports the rest in the headers of the
  /// answer (https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/): `t` is the
  /// time until the next message passes, or, for a refused request, until this request would pass,
  /// as in Retry-After.
  ///
  /// @throws ProblemException 429 when the bucket does not hold enough
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
                  // More messages than a bucket holds pass when it is full, and leave a debt.
                  enough[0] = left >= Math.min(messages, perSecond);
                  return new Bucket(enough[0] ? left - messages : left, now);
                });
    Duration until = until(bucket, enough[0] ? 1 : Math.min(messages, perSecond));
    report(bucket, until, answer);
    if (!enough[0]) {
      throw ProblemException.retryable(
          ProblemCode.RATE_LIMITED,
          "This app may send " + perSecond + " messages a second. Send it again later.",
          until,
          null);
    }
  }

  /// Puts messages back that [#take] took for a request which then sent nothing, and reports the
  /// rest anew.
  public void giveBack(AppId app, int messages, HttpServletResponse answer) {
    if (perSecond == 0) {
      return;
    }
    Instant now = clock.instant();
    Bucket bucket =
        buckets
            .asMap()
            .compute(
                app,
                (key, before) -> {
                  double left = before == null ? perSecond : refilled(before, now);
                  return new Bucket(Math.min(perSecond, left + messages), now);
                });
    report(bucket, until(bucket, 1), answer);
  }

  private Duration until(Bucket bucket, int wanted) {
    return Duration.ofMillis((long) Math.ceil(1_000 * (wanted - bucket.left()) / perSecond));
  }

  private void report(Bucket bucket, Duration until, HttpServletResponse answer) {
    answer.setHeader(
        "RateLimit-Policy", String.format(Locale.ROOT, "\"messages\";q=%d;w=1", perSecond));
    answer.setHeader(
        "RateLimit",
        String.format(
            Locale.ROOT,
            "\"messages\";r=%d;t=%d",
            Math.max(0, (long) bucket.left()),
            ProblemException.wholeSeconds(until)));
  }

  private double refilled(Bucket bucket, Instant now) {
    double seconds = Math.max(0, Duration.between(bucket.at(), now).toMillis() / 1_000.0);
    return Math.min(perSecond, bucket.left() + seconds * perSecond);
  }
}
