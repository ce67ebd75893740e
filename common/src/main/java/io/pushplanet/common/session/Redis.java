package io.pushplanet.common.session;

import io.lettuce.core.RedisFuture;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

final class Redis {
  private Redis() {}

  static <T extends @Nullable Object> T await(RedisFuture<T> answer, Duration deadline) {
    try {
      return answer.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new DirectoryUnavailable("Redis did not answer within " + deadline, e);
    } catch (ExecutionException e) {
      throw new DirectoryUnavailable("Redis refused: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DirectoryUnavailable("interrupted while waiting for Redis", e);
    }
  }
}
