package io.pushplanet.gateway.token;

import io.pushplanet.common.delivery.Channel;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.redis.Script;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What all workers have counted within a minute, by Redis' clock: one count, and so one decision.
/// Two small keys per app and channel, which expire by themselves. Thread-safe; calls block.
final class SharedAnswers implements PurgeBreaker.Together {
  private static final Logger LOG = LoggerFactory.getLogger(SharedAnswers.class);

  /// How long Redis is not asked again after it did not answer.
  private static final Duration ALONE = Duration.ofSeconds(3);

  /// KEYS: the count, the mark of an open breaker. ARGV: answers, deaths, fewest answers. The
  /// answer is how many milliseconds the breaker stays open.
  private static final Script ADD =
      Script.of(
          """
          local sends = redis.call('HINCRBY', KEYS[1], 'sends', ARGV[1])
          local dead = redis.call('HINCRBY', KEYS[1], 'dead', ARGV[2])
          if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], %d) end
          if sends >= tonumber(ARGV[3]) and dead * 100 > sends * %d then
            redis.call('SET', KEYS[2], '', 'PX', %d)
          end
          return {tostring(math.max(0, redis.call('PTTL', KEYS[2])))}
          """
              .formatted(
                  PurgeBreaker.WINDOW.toMillis(),
                  PurgeBreaker.MAX_DEAD_PERCENT,
                  PurgeBreaker.OPEN.toMillis()));

  private final RedisLink redis;
  private final Clock clock;
  private volatile Instant aloneUntil = Instant.MIN;

  SharedAnswers(RedisLink redis, Clock clock) {
    this.redis = redis;
    this.clock = clock;
  }

  @Override
  public Optional<Duration> add(AppId app, Channel channel, int sends, int dead, int fewest) {
    if (clock.instant().isBefore(aloneUntil)) {
      return Optional.empty();
    }
    String key = "purge:{" + app + "/" + channel.word() + "}";
    try {
      String open =
          redis
              .run(
                  ADD,
                  new String[] {key, key + ":open"},
                  Integer.toString(sends),
                  Integer.toString(dead),
                  Integer.toString(fewest))
              .getFirst();
      return Optional.of(Duration.ofMillis(Long.parseLong(open)));
    } catch (RedisUnavailable e) {
      LOG.warn("event=purge_breaker_not_shared key={} reason=\"{}\"", key, e.toString());
      aloneUntil = clock.instant().plus(ALONE);
      return Optional.empty();
    }
  }
}
