package io.pushplanet.dispatcher.message;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.redis.RequestBatcher;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Keeps accepted messages visible until the statistics role has written their rows: in this
/// process and, for the other dispatchers, in Redis. If this copy is lost, the message is invisible
/// until then ([Messages#unknown(MessageId, java.time.Instant)]). While Redis does not answer, no
/// message of the last minutes is called unknown: its caller would send it once more. Thread-safe.
@Component
public class AcceptedMessages {
  private static final Logger LOG = LoggerFactory.getLogger(AcceptedMessages.class);
  private static final String ACCEPTED = "accepted-news:";
  private static final Duration KEPT = Duration.ofMinutes(10);
  private static final long TOGETHER_MILLIS = 100;
  private static final long ROUND_MILLIS = Duration.ofHours(1).toMillis();

  /// In bytes, not in messages: a message that names a thousand devices is as large as a hundred
  /// others.
  private static final long MAX_KEPT_HERE = 16L * 1024 * 1024;

  private static final int BYTES_AROUND = 200;
  private static final int MAX_WAITING = 10_000;

  /// Of entries that wait for Redis or are on their way to it.
  private static final long MAX_BYTES_WAITING = 16L * 1024 * 1024;

  private static final int MAX_TOGETHER = 256;

  private final RedisLink redis;
  private final Clock clock;
  private final RequestBatcher<Entry> batcher;
  private final AtomicLong bytesWaiting = new AtomicLong();
  private final Cache<MessageId, byte[]> here;

  /// The entries of [#here], oldest first. Caffeine itself would rather evict new entries than old
  /// ones.
  private final Queue<Entry> oldestFirst = new ConcurrentLinkedQueue<>();

  private final AtomicLong bytesHere = new AtomicLong();

  AcceptedMessages(RedisLink redis, Clock clock, MeterRegistry meters) {
    this.redis = redis;
    this.clock = clock;
    this.batcher = new RequestBatcher<>(MAX_WAITING, MAX_TOGETHER, 1, this::send);
    this.here =
        Caffeine.newBuilder()
            .expireAfterWrite(KEPT)
            .recordStats()
            .executor(Runnable::run) // less work than waking a thread
            .build();
    CaffeineCacheMetrics.monitor(meters, here, "accepted-messages");
  }

  /// A message before its row is written.
  ///
  /// @param event a [DeliveryEvent.Accepted] in wire form
  private record Entry(MessageId id, byte[] event) {
    int bytes() {
      return BYTES_AROUND + event.length;
    }
  }

  /// Does not wait for Redis.
  ///
  /// @param event a [DeliveryEvent.Accepted] in wire form
  public void remember(MessageId id, byte[] event) {
    Entry entry = new Entry(id, event);
    keepHere(entry);
    if (redis.connected() && !waits(entry)) {
      LOG.debug("event=accepted_not_kept reason=\"too many wait\"");
    }
  }

  private void keepHere(Entry entry) {
    here.put(entry.id(), entry.event());
    oldestFirst.add(entry);
    long held = bytesHere.addAndGet(entry.bytes());
    while (held > MAX_KEPT_HERE) {
      Entry oldest = oldestFirst.poll();
      if (oldest == null) {
        return;
      }
      // Removes only this entry, and not a newer one of the same message: arrays are equal only to
      // themselves.
      here.asMap().remove(oldest.id(), oldest.event());
      held = bytesHere.addAndGet(-oldest.bytes());
    }
  }

  /// @return false when there is no room for the entry
  private boolean waits(Entry entry) {
    if (bytesWaiting.addAndGet(entry.bytes()) <= MAX_BYTES_WAITING && batcher.add(entry)) {
      return true;
    }
    bytesWaiting.addAndGet(-entry.bytes());
    return false;
  }

  private CompletionStage<?> send(List<Entry> entries) {
    long bytes = entries.stream().mapToLong(Entry::bytes).sum();
    return putIntoRedis(entries).whenComplete((_, _) -> bytesWaiting.addAndGet(-bytes));
  }

  /// Writes many entries at once. The messages are accepted already, so nothing that happens here
  /// may change the answer.
  private CompletionStage<?> putIntoRedis(List<Entry> entries) {
    try {
      Map<String, CommandArgs<String, String>> hashes = new HashMap<>();
      for (Entry entry : entries) {
        hashes
            .computeIfAbsent(
                hash(entry.id()), key -> new CommandArgs<>(StringCodec.UTF8).addKey(key))
            .addKey(entry.id().value())
            .add(entry.event());
      }
      List<AsyncCommand<String, String, Long>> commands = new ArrayList<>();
      hashes.forEach((key, fields) -> {
        commands.add(command(CommandType.HSET, fields));
        commands.add(
            command(
                CommandType.PEXPIRE,
                new CommandArgs<>(StringCodec.UTF8).addKey(key).add(KEPT.toMillis())));
      });
      redis.connection().dispatch(commands);
      // The last command ends in bounded time, because the client has a timeout for every command.
      return commands.getLast();
    } catch (RuntimeException e) {
      LOG.debug("event=accepted_not_kept reason=\"{}\"", e.toString());
      return CompletableFuture.failedFuture(e);
    }
  }

  private static AsyncCommand<String, String, Long> command(
      CommandType type, CommandArgs<String, String> arguments) {
    return new AsyncCommand<>(
        new Command<>(type, new IntegerOutput<>(StringCodec.UTF8), arguments));
  }

  /// One hash holds all messages that were made in the same tenth of a second: a write then sets
  /// most of its entries with one command. A hash expires with one key, and is small enough that
  /// its deletion delays no other command. Keys are used again after an hour, so that a hash whose
  /// process was killed before it set the expiry gets one then.
  private static String hash(MessageId id) {
    return ACCEPTED + id.time().toEpochMilli() % ROUND_MILLIS / TOGETHER_MILLIS;
  }

  /// For a message whose row is not there.
  ///
  /// @throws RedisUnavailable when the message may be there all the same, and only Redis knows
  Optional<DeliveryEvent.Accepted> mustFind(AppId app, MessageId id) {
    try {
      return ask(app, id);
    } catch (RedisUnavailable e) {
      if (id.time().plus(KEPT).isAfter(clock.instant())) {
        throw e;
      }
      return Optional.empty();
    }
  }

  /// As far as Redis answers.
  Optional<DeliveryEvent.Accepted> find(AppId app, MessageId id) {
    try {
      return ask(app, id);
    } catch (RedisUnavailable e) {
      return Optional.empty();
    }
  }

  private Optional<DeliveryEvent.Accepted> ask(AppId app, MessageId id) {
    byte[] held = here.getIfPresent(id);
    byte[] event = held == null ? inRedis(id) : held;
    return event == null
            || !(WireForm.read(event, DeliveryEvent.class)
                instanceof DeliveryEvent.Accepted accepted)
            || !accepted.app().equals(app)
        ? Optional.empty()
        : Optional.of(accepted);
  }

  private byte @Nullable [] inRedis(MessageId id) {
    String text = redis.ask(commands -> commands.hget(hash(id), id.value()));
    return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
  }
}
