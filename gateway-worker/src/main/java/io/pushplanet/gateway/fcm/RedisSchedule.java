package io.pushplanet.gateway.fcm;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.lettuce.core.RedisException;
import io.lettuce.core.ScriptOutputType;
import io.pushplanet.common.message.Priority;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A project's schedule in Redis, by Redis' clock: one for all workers. While Redis is away, or
/// does not answer within [#DEADLINE], each worker keeps a schedule of its own. It has the part of
/// the quota that it would have if all workers seen last sent as much as it does. Thread-safe;
/// calls block.
final class RedisSchedule implements Schedule {
  static final Duration DEADLINE = Duration.ofMillis(250);

  /// How long Redis is not asked again after it did not answer.
  static final Duration ALONE = Duration.ofSeconds(3);

  private static final Logger LOG = LoggerFactory.getLogger(RedisSchedule.class);

  /// Does what [LocalSchedule] does. KEYS: the project's state, its workers. ARGV: worker, high or
  /// normal, messages, gap at the whole rate, longest wait. All times are microseconds; numbers of
  /// 16 digits lose some unless they are formatted. The answer is: taken or not, wait, gap in
  /// nanoseconds, workers, what the rate gains in a second in millionths of the whole.
  private static final String TAKE =
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000000 + time[2]
      redis.call('ZADD', KEYS[2], string.format('%%.0f', now), ARGV[1])
      redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%%.0f', now - 10000000))
      redis.call('PEXPIRE', KEYS[2], 20000)
      local workers = redis.call('ZCARD', KEYS[2])
      local s = redis.call('HMGET', KEYS[1], 'next', 'high', 'level', 'climb', 'from', 'rest')
      local rest = tonumber(s[6]) or 0
      if rest > now then return {0, rest - now, 0, workers} end
      local nextNormal, nextHigh = tonumber(s[1]) or 0, tonumber(s[2]) or now
      local level, climb, from = tonumber(s[3]), tonumber(s[4]), tonumber(s[5])
      if level == nil or from == nil or now - math.max(nextNormal, rest) > %1$d then
        level, climb, from = %2$s, %3$s, now
      end
      if nextNormal == 0 then nextNormal = now end
      local gap = tonumber(ARGV[4])
      local normalGap = gap / math.min(1, level + climb * math.max(0, now - from) / 1000000)
      local earliest = now - %4$d
      nextNormal = math.max(nextNormal, earliest)
      local begin = nextNormal
      if ARGV[2] == 'high' then begin = math.max(nextHigh, earliest) end
      if begin - now > tonumber(ARGV[5]) then return {0, begin - now, 0, workers} end
      nextNormal = nextNormal + ARGV[3] * normalGap
      local gain = climb
      if ARGV[2] == 'high' then
        nextHigh, gain = begin + ARGV[3] * gap, 0
      else
        gap = normalGap
      end
      redis.call('HSET', KEYS[1], 'next', string.format('%%.3f', nextNormal), 'high', string.format('%%.3f', nextHigh),
        'level', level, 'climb', climb, 'from', string.format('%%.0f', from))
      redis.call('PEXPIRE', KEYS[1], %5$d)
      return {1, begin - now, gap * 1000, workers, gain * 1000000}
      """
          .formatted(
              micros(RAMP),
              SLOWEST,
              (1 - SLOWEST) / RAMP.toSeconds(),
              micros(AHEAD),
              2 * RAMP.toMillis());

  /// ARGV: rest.
  private static final String REFUSED =
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000000 + time[2]
      local s = redis.call('HMGET', KEYS[1], 'level', 'climb', 'from', 'rest', 'refused')
      local level, climb, from = tonumber(s[1]) or %1$s, tonumber(s[2]) or 0, tonumber(s[3]) or now
      level = math.min(1, level + climb * math.max(0, now - from) / 1000000)
      if now - (tonumber(s[5]) or 0) > %2$d then
        level, climb = math.max(%1$s, level * %3$s), %4$s
        redis.call('HSET', KEYS[1], 'refused', string.format('%%.0f', now))
      end
      local rest = math.max(tonumber(s[4]) or 0, now + ARGV[1])
      redis.call('HSET', KEYS[1], 'level', level, 'climb', climb, 'from', string.format('%%.0f', rest), 'rest',
        string.format('%%.0f', rest))
      redis.call('PEXPIRE', KEYS[1], string.format('%%.0f', (rest - now) / 1000 + %5$d))
      return {1}
      """
          .formatted(SLOWEST, micros(ONE_REFUSAL), CUT, CLIMB_PER_SECOND, 2 * RAMP.toMillis());

  private final RedisLink redis;
  private final String[] keys;
  private final String worker;
  private final int perMinute;
  private final Clock clock;
  private final PaceMetrics metrics;

  @GuardedBy("this")
  private @Nullable LocalSchedule own;

  @GuardedBy("this")
  private Instant aloneUntil = Instant.MIN;

  @GuardedBy("this")
  private long workers = 1;

  /// @param worker a different word for each process
  RedisSchedule(
      RedisLink redis,
      String project,
      String worker,
      int perMinute,
      Clock clock,
      PaceMetrics metrics) {
    this.redis = redis;
    this.keys = new String[] {"fcm-pace:{" + project + "}", "fcm-pace:{" + project + "}:workers"};
    this.worker = worker;
    this.perMinute = perMinute;
    this.clock = clock;
    this.metrics = metrics;
  }

  @Override
  public synchronized Answer take(Priority priority, int messages, Duration longestWait) {
    double gapMicros = 60e6 / (perMinute * SHARE);
    List<Long> answer =
        asked(
            TAKE,
            worker,
            priority == Priority.HIGH ? "high" : "normal",
            Integer.toString(messages),
            Double.toString(gapMicros),
            Long.toString(micros(longestWait)));
    metrics.leased(answer != null);
    if (answer == null) {
      return alone().take(priority, messages, longestWait);
    }
    own = null;
    workers = answer.get(3);
    Duration wait = Duration.ofNanos(answer.get(1) * 1_000);
    return answer.get(0) == 1
        ? new Answer.Places(
            wait, messages, answer.get(2), outlook(answer.get(2), 1e6 / gapMicros, answer.get(4)))
        : new Answer.None(wait);
  }

  /// This worker's part, as if all workers had as much to send.
  @GuardedBy("this")
  private Outlook outlook(long gapNanos, double wholeRate, long gainMillionths) {
    return new Outlook(
        1e9 / gapNanos / workers, wholeRate / workers, wholeRate / workers * gainMillionths / 1e6);
  }

  @Override
  public synchronized void refused(Duration rest) {
    if (asked(REFUSED, Long.toString(micros(rest))) == null) {
      alone().refused(rest);
    }
  }

  @GuardedBy("this")
  private LocalSchedule alone() {
    if (own == null) {
      own = new LocalSchedule((double) perMinute / workers, clock);
      LOG.warn("event=fcm_pace_not_shared pace={} workers={}", keys[0], workers);
    }
    return own;
  }

  /// @return null when Redis does not answer
  @GuardedBy("this")
  private @Nullable List<Long> asked(String script, String... values) {
    if (clock.instant().isBefore(aloneUntil)) {
      return null;
    }
    try {
      return redis
          .connection()
          .async()
          .<List<Long>>eval(script, ScriptOutputType.MULTI, keys, values)
          .get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (ExecutionException | TimeoutException | RedisException | RedisUnavailable e) {
      LOG.debug("event=fcm_pace_not_asked pace={} reason=\"{}\"", keys[0], e.toString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    aloneUntil = clock.instant().plus(ALONE);
    return null;
  }

  private static long micros(Duration duration) {
    return duration.toNanos() / 1_000;
  }
}
