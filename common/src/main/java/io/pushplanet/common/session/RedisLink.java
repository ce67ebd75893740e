package io.pushplanet.common.session;

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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A process's single connection to Redis. Redis may be away at the start: the link retries, with
/// jittered pauses, until it is connected for the first time; from then on Lettuce reconnects by
/// itself. Thread-safe.
public final class RedisLink implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(RedisLink.class);
  private static final Duration PAUSE = Duration.ofMillis(500);

  private final RedisClient client;
  private final AtomicReference<@Nullable StatefulRedisConnection<String, String>> connection =
      new AtomicReference<>();
  private final CountDownLatch closed = new CountDownLatch(1);

  private RedisLink(RedisClient client) {
    this.client = client;
  }

  /// Tries to connect once, then goes on in the background.
  public static RedisLink open(RedisClient client) {
    RedisLink link = new RedisLink(client);
    if (!link.tried()) {
      Thread.ofVirtual().name("redis-link").start(link::keepTrying);
    }
    return link;
  }

  /// @throws DirectoryUnavailable before the first connection
  public StatefulRedisConnection<String, String> connection() {
    StatefulRedisConnection<String, String> held = connection.get();
    if (held == null) {
      throw new DirectoryUnavailable("Redis is away", null);
    }
    return held;
  }

  /// Sends a command and waits for its answer, at most [SessionDirectory#DEADLINE].
  ///
  /// @throws DirectoryUnavailable when there is none
  public <T extends @Nullable Object> T ask(
      Function<RedisAsyncCommands<String, String>, RedisFuture<T>> command) {
    return Redis.await(command.apply(connection().async()), SessionDirectory.DEADLINE);
  }

  /// Runs a script that returns a list of texts, and waits for it, as [#ask] does. The script's
  /// text is sent only when Redis does not know it: the first time, and after a restart of Redis.
  public List<String> run(Script script, String[] keys, String... arguments) {
    try {
      return ask(commands -> send(commands, CommandType.EVALSHA, script.digest(), keys, arguments));
    } catch (DirectoryUnavailable refused) {
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
    closed.countDown();
    StatefulRedisConnection<String, String> held = connection.get();
    if (held != null) {
      held.close();
    }
  }

  private boolean tried() {
    try {
      connection.set(client.connect());
      return true;
    } catch (RuntimeException | Error e) {
      LOG.warn("event=redis_connect_failed reason=\"{}\"", e.toString());
      return false;
    }
  }

  private void keepTrying() {
    try {
      long millis = PAUSE.toMillis();
      while (!closed.await(
          millis + ThreadLocalRandom.current().nextLong(millis), TimeUnit.MILLISECONDS)) {
        if (tried()) {
          LOG.info("event=redis_connected");
          return;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
