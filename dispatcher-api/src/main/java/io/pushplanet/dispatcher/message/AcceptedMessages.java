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
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.RequestBatcher;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
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

/// Keeps accepted messages visible until the statistics role has written their rows: here and, for the other dispatchers, in
/// Redis. Losing it only hides a message for a moment. Thread-safe.
@Component
public class AcceptedMessages {
  private static final Logger LOG = LoggerFactory.getLogger(AcceptedMessages.class);
  private static final String ACCEPTED = "accepted-news:";
  private static final Duration KEPT = Duration.ofMinutes(10);
  private static final long TOGETHER_MILLIS = 100;
  private static final long ROUND_MILLIS = Duration.ofHours(1).toMillis();

  /// In bytes, not in messages: one that names a thousand devices is as large as a hundred others.
  private static final long MOST_KEPT_HERE = 16L * 1024 * 1024;

  private static final int BYTES_AROUND = 200;
  private static final int MOST_WAITING = 10_000;

  /// For Redis, and on their way to it.
  private static final long MOST_BYTES_WAITING = 16L * 1024 * 1024;

  private static final int MOST_TOGETHER = 256;

  private final RedisLink redis;
  private final RequestBatcher<Entry> batcher;
  private final AtomicLong bytesWaiting = new AtomicLong();
  private final Cache<MessageId, byte[]> here;

  /// What is here, in the order in which it came: Caffeine would keep what was there before rather than what is new.
  private final Queue<Entry> oldestFirst = new ConcurrentLinkedQueue<>();

  private final AtomicLong bytesHere = new AtomicLong();

  AcceptedMessages(RedisLink redis, MeterRegistry meters) {
    this.redis = redis;
    this.batcher = new RequestBatcher<>(MOST_WAITING, MOST_TOGETHER, 1, this::send);
    this.here =
        Caffeine.newBuilder()
            .expireAfterWrite(KEPT)
            .recordStats()
            .executor(Runnable::run) // less work than waking a thread
            .build();
    CaffeineCacheMetrics.monitor(meters, here, "accepted-messages");
  }

  /// A message and the news of it: what can be said of it before its row is there.
  private record Entry(MessageId id, byte[] news) {
    int bytes() {
      return BYTES_AROUND + news.length;
    }
  }

  /// Does not wait for Redis.
  ///
  /// @param news a [DeliveryEvent.Accepted] in wire form
  public void remember(MessageId id, byte[] news) {
    Entry entry = new Entry(id, news);
    keepHere(entry);
    if (redis.connected() && !waits(entry)) {
      LOG.debug("event=accepted_not_kept reason=\"too many wait\"");
    }
  }

  private void keepHere(Entry entry) {
    here.put(entry.id(), entry.news());
    oldestFirst.add(entry);
    long held = bytesHere.addAndGet(entry.bytes());
    while (held > MOST_KEPT_HERE) {
      Entry oldest = oldestFirst.poll();
      if (oldest == null) {
        return;
      }
      // Not what the message was told with since: arrays are equal only to themselves.
      here.asMap().remove(oldest.id(), oldest.news());
      held = bytesHere.addAndGet(-oldest.bytes());
    }
  }

  /// @return false where it has no room
  private boolean waits(Entry entry) {
    if (bytesWaiting.addAndGet(entry.bytes()) <= MOST_BYTES_WAITING && batcher.add(entry)) {
      return true;
    }
    bytesWaiting.addAndGet(-entry.bytes());
    return false;
  }

  private CompletionStage<?> send(List<Entry> entries) {
    long bytes = entries.stream().mapToLong(Entry::bytes).sum();
    return putIntoRedis(entries).whenComplete((_, _) -> bytesWaiting.addAndGet(-bytes));
  }

  /// One write for many entries. The messages are accepted: nothing that happens here may make the answer another one.
  private CompletionStage<?> putIntoRedis(List<Entry> entries) {
    try {
      Map<String, CommandArgs<String, String>> hashes = new HashMap<>();
      for (Entry entry : entries) {
        hashes
            .computeIfAbsent(
                hash(entry.id()), key -> new CommandArgs<>(StringCodec.UTF8).addKey(key))
            .addKey(entry.id().value())
            .add(entry.news());
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
      // It ends in bounded time: the client has a timeout for every command.
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

  /// One hash for all that were made in the same tenth of a second: a write sets most of its entries with one command, and
  /// what is over goes away with one key, small enough to hold nobody up. The keys come round, so that one that a process
  /// set and did not live to give its end gets it then.
  private static String hash(MessageId id) {
    return ACCEPTED + id.time().toEpochMilli() % ROUND_MILLIS / TOGETHER_MILLIS;
  }

  Optional<DeliveryEvent.Accepted> find(AppId app, MessageId id) {
    byte[] held = here.getIfPresent(id);
    byte[] news = held == null ? inRedis(id) : held;
    return news == null
            || !(WireForm.read(news, DeliveryEvent.class)
                instanceof DeliveryEvent.Accepted accepted)
            || !accepted.app().equals(app)
        ? Optional.empty()
        : Optional.of(accepted);
  }

  private byte @Nullable [] inRedis(MessageId id) {
    try {
      String text = redis.ask(commands -> commands.hget(hash(id), id.value()));
      return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    } catch (DirectoryUnavailable e) {
      return null;
    }
  }
}
