package io.pushplanet.common.session;

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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Reads keys of Redis for many callers with one MGET: a GET by each costs ten times the processor time, in both processes.
/// Thread-safe.
///
/// A call blocks for one of the rounds under way and its own, each of which has half of [SessionDirectory#DEADLINE]; who still
/// waits when a round fails, fails with it. The rounds hold the clock, not the callers: a virtual thread that waits with a timeout wakes
/// the scheduler's timer thread twice, which cost more than the read.
final class SharedReads {
  /// Whoever wants more goes alone: the others should not wait for all of it.
  private static final int MOST_SHARED_KEYS = 16;

  private static final int MOST_CALLERS_TOGETHER = 512;
  private static final int MOST_ROUNDS = 4;
  private static final int MOST_CALLERS_WAITING = 20_000;
  private static final Duration ROUND = SessionDirectory.DEADLINE.dividedBy(2);

  private final Supplier<StatefulRedisConnection<String, String>> redis;
  private final Rounds<Read> rounds =
      new Rounds<>(MOST_CALLERS_WAITING, MOST_CALLERS_TOGETHER, MOST_ROUNDS, this::send);

  SharedReads(Supplier<StatefulRedisConnection<String, String>> redis) {
    this.redis = redis;
  }

  private record Read(List<String> keys, CompletableFuture<List<@Nullable String>> values) {}

  /// The values of the keys in their order, null where there is none.
  ///
  /// @throws DirectoryUnavailable when Redis is away, refuses or is too slow
  List<@Nullable String> values(List<String> keys) {
    if (keys.size() > MOST_SHARED_KEYS) {
      return texts(
          Redis.await(
              redis.get().async().mget(keys.toArray(String[]::new)), SessionDirectory.DEADLINE));
    }
    Read read = new Read(keys, new CompletableFuture<>());
    if (!rounds.add(read)) {
      throw new DirectoryUnavailable(MOST_CALLERS_WAITING + " callers wait for Redis", null);
    }
    try {
      return read.values().get();
    } catch (ExecutionException e) {
      throw new DirectoryUnavailable("Redis did not answer: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new DirectoryUnavailable("interrupted while waiting for Redis", e);
    }
  }

  /// Each of them is told, whatever happens, an Error too: they wait without a clock of their own.
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
    rounds.withdrawAll().forEach(read -> read.values().completeExceptionally(why));
  }

  private CompletableFuture<List<KeyValue<String, String>>> mget(String[] keys) {
    try {
      StatefulRedisConnection<String, String> connection = redis.get();
      CompletableFuture<List<KeyValue<String, String>>> answer =
          connection.async().mget(keys).toCompletableFuture();
      Timeout deadline =
          connection
              .getResources()
              .timer()
              .newTimeout(
                  _ -> answer.completeExceptionally(new TimeoutException("within " + ROUND)),
                  ROUND.toMillis(),
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
