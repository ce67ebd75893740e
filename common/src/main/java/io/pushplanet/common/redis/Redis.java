package io.pushplanet.common.redis;

import io.lettuce.core.RedisFuture;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Waits for an answer of Redis with a deadline.
public final class Redis {
  private Redis() {}

  /// @throws RedisUnavailable when there is none within the deadline, or Redis refuses
  public static <T extends @Nullable Object> T await(RedisFuture<T> answer, Duration deadline) {
    try {
      return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new RedisUnavailable("Redis did not answer within " + deadline, e);
    } catch (ExecutionException e) {
      throw new RedisUnavailable("Redis refused: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailable("interrupted while waiting for Redis", e);
    }
  }
}
