package io.pushplanet.common.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisAsyncCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.ValueListOutput;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// A process's single connection to Redis, which may be away at the start. Thread-safe.
public final class RedisLink implements AutoCloseable {
  /// The longest wait of a call for Redis.
  public static final Duration DEADLINE = Duration.ofSeconds(2);

  private final AwaitedConnection<StatefulRedisConnection<String, String>> connection;

  private RedisLink(AwaitedConnection<StatefulRedisConnection<String, String>> connection) {
    this.connection = connection;
  }

  /// Tries to connect once, then goes on in the background, once or twice a second. Logs when Redis
  /// is away, at most every half a minute from then on, and when it is there.
  public static RedisLink open(RedisClient client) {
    OutageLog outage = new OutageLog(System::nanoTime);
    AwaitedConnection<StatefulRedisConnection<String, String>> connection =
        new AwaitedConnection<>(client::connect, outage::failed);
    if (!connection.connects()) {
      Thread.ofVirtual()
          .name("redis-link")
          .start(() -> {
            if (connection.connectsLater()) {
              outage.connected();
            }
          });
    }
    return new RedisLink(connection);
  }

  /// @throws RedisUnavailable before the first connection
  public StatefulRedisConnection<String, String> connection() {
    StatefulRedisConnection<String, String> held = connection.get();
    if (held == null) {
      throw new RedisUnavailable("Redis is away", null);
    }
    return held;
  }

  /// Sends a command and waits for its answer, at most [#DEADLINE].
  ///
  /// @throws RedisUnavailable when there is none
  public <T extends @Nullable Object> T ask(
      Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command) {
    return await(command.apply(connection().async()));
  }

  /// Waits for the answer to a command that was sent before, at most [#DEADLINE].
  ///
  /// @throws RedisUnavailable when there is none, or Redis refuses
  public static <T extends @Nullable Object> T await(RedisFuture<T> answer) {
    try {
      return answer.get(DEADLINE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      answer.cancel(true);
      throw new RedisUnavailable("Redis did not answer within " + DEADLINE, e);
    } catch (ExecutionException e) {
      throw new RedisUnavailable("Redis refused: " + e.getCause(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new RedisUnavailable("interrupted while waiting for Redis", e);
    }
  }

  /// Runs a script that returns a list of texts, and waits for it, as [#ask] does. The script's
  /// text is sent only when Redis does not know it: the first time, and after a restart of Redis.
  public List<String> run(Script script, String[] keys, String... arguments) {
    try {
      return ask(commands -> send(commands, CommandType.EVALSHA, script.digest(), keys, arguments));
    } catch (RedisUnavailable refused) {
      if (refused.getCause() instanceof ExecutionException e
          && e.getCause() instanceof RedisNoScriptException) {
        return ask(commands -> send(commands, CommandType.EVAL, script.text(), keys, arguments));
      }
      throw refused;
    }
  }

  /// Passes keys and arguments as bytes: the client would allocate a buffer for each text, and a
  /// call may have many hundred texts.
  private static RedisFuture<List<String>> send(
      RedisAsyncCommands<String, String> commands,
      CommandType how,
      String script,
      String[] keys,
      String... arguments) {
    var args = new CommandArgs<>(StringCodec.UTF8).add(bytes(script)).add(keys.length);
    for (String key : keys) {
      args.add(bytes(key));
    }
    for (String argument : arguments) {
      args.add(bytes(argument));
    }
    return commands.dispatch(how, new ValueListOutput<>(StringCodec.UTF8), args);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /// Whether commands would be sent at once.
  public boolean connected() {
    StatefulRedisConnection<String, String> held = connection.get();
    return held != null && held.isOpen();
  }

  @Override
  public void close() {
    connection.close();
  }
}
