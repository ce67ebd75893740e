package io.pushplanet.common.redis;

import io.lettuce.core.KeyValue;
import io.lettuce.core.api.StatefulRedisConnection;
import io.netty.util.Timeout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/// Reads keys of Redis for many callers with one MGET: a GET by each costs ten times the processor
/// time, here and in Redis. Thread-safe.
///
/// A call blocks for one of the batches in flight and for its own, each of which has half of
/// [RedisLink#DEADLINE]. When a batch fails, the calls that still wait fail with it. The
/// batches have the timeout, not the callers: a virtual thread that waits with a timeout wakes the
/// scheduler's timer thread twice, which costs more than the read.
public final class SharedReads {
  /// A call for more keys has its own MGET, so that other callers do not wait for all of these
  /// keys.
  private static final int MAX_SHARED_KEYS = 16;

  private static final int MAX_CALLERS_TOGETHER = 512;
  private static final int MAX_ROUNDS = 4;
  private static final int MAX_CALLERS_WAITING = 20_000;
  private static final Duration BATCH_DEADLINE = RedisLink.DEADLINE.dividedBy(2);

  private final RedisLink redis;
  private final RequestBatcher<Read> batcher =
      new RequestBatcher<>(MAX_CALLERS_WAITING, MAX_CALLERS_TOGETHER, MAX_ROUNDS, this::send);

  public SharedReads(RedisLink redis) {
    this.redis = redis;
  }

  private record Read(List<String> keys, CompletableFuture<List<@Nullable String>> values) {}

  /// The values of the keys in their order, null where there is none.
  ///
  /// @throws RedisUnavailable when Redis is away, refuses or is too slow
  public List<@Nullable String> values(List<String> keys) {
    if (keys.size() > MAX_SHARED_KEYS) {
      return texts(redis.ask(commands -> commands.mget(keys.toArray(String[]::new))));
    }
    Read read = new Read(keys, new CompletableFuture<>());
    if (!batcher.add(read)) {
      throw new RedisUnavailable(MAX_CALLERS_WAITING + " callers wait for Redis", null);
    }
    try {
      return read.values().get();
    } catch (ExecutionException e) {
      throw new RedisUnavailable("Redis did not answer: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailable("interrupted while waiting for Redis", e);
    }
  }

  /// Completes every read, also after an Error: the callers wait without a timeout.
  private CompletionStage<?> send(List<Read> reads) {
    try {
      String[] keys = reads.stream().flatMap(read -> read.keys().stream()).toArray(String[]::new);
      return mget(keys)
          .thenAccept(pairs -> settle(reads, texts(pairs)))
          .whenComplete((_, failure) -> {
            if (failure != null) {
              fail(reads, failure);
            }
          });
    } catch (Throwable e) {
      fail(reads, e);
      return CompletableFuture.failedFuture(e);
    }
  }

  private void fail(List<Read> reads, Throwable why) {
    reads.forEach(read -> read.values().completeExceptionally(why));
    batcher.withdrawAll().forEach(read -> read.values().completeExceptionally(why));
  }

  private CompletableFuture<List<KeyValue<String, String>>> mget(String[] keys) {
    try {
      StatefulRedisConnection<String, String> connection = redis.connection();
      CompletableFuture<List<KeyValue<String, String>>> answer =
          connection.async().mget(keys).toCompletableFuture();
      Timeout deadline =
          connection
              .getResources()
              .timer()
              .newTimeout(
                  _ ->
                      answer.completeExceptionally(
                          new TimeoutException("within " + BATCH_DEADLINE)),
                  BATCH_DEADLINE.toMillis(),
                  TimeUnit.MILLISECONDS);
      return answer.whenComplete((_, _) -> deadline.cancel());
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  private static void settle(List<Read> reads, List<@Nullable String> values) {
    int from = 0;
    for (Read read : reads) {
      int to = from + read.keys().size();
      read.values().complete(values.subList(from, to));
      from = to;
    }
  }

  private static List<@Nullable String> texts(List<KeyValue<String, String>> pairs) {
    List<@Nullable String> values = new ArrayList<>(pairs.size());
    pairs.forEach(pair -> values.add(pair.hasValue() ? pair.getValue() : null));
    return values;
  }
}
