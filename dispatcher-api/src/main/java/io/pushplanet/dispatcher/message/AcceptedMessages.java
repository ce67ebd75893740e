package io.pushplanet.dispatcher.message;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.session.Rounds;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.stereotype.Component;

/// Keeps accepted messages visible until the statistics role has written their rows: here and, for the other dispatchers, in
/// Redis. Losing it only hides a message for a moment. Thread-safe.
@Component
public class AcceptedMessages {
  private static final Logger LOG = LoggerFactory.getLogger(AcceptedMessages.class);
  private static final String ACCEPTED = "accepted:";
  private static final Duration KEPT = Duration.ofMinutes(10);
  private static final int MOST_KEPT_HERE = 10_000;

  private static final int MOST_WAITING = 10_000;
  private static final int MOST_TOGETHER = 256;

  private final RedisLink redis;
  private final Rounds<Entry> rounds;
  private final Cache<MessageId, Entry> here;

  AcceptedMessages(RedisLink redis, MeterRegistry meters) {
    this.redis = redis;
    this.rounds = new Rounds<>(MOST_WAITING, MOST_TOGETHER, 1, this::putIntoRedis);
    this.here =
        Caffeine.newBuilder()
            .maximumSize(MOST_KEPT_HERE)
            .expireAfterWrite(KEPT)
            .recordStats()
            .executor(
                Runnable::run) // it is full as a rule: evicting is less work than waking a thread
            .build();
    CaffeineCacheMetrics.monitor(meters, here, "accepted-messages");
  }

  /// What can be said of a message before its row is there.
  public record Entry(
      MessageId id,
      AppId app,
      Audience audience,
      Content content,
      DeliveryOptions delivery,
      Instant acceptedAt,
      Instant expiresAt,
      int estimate,
      boolean expanded) {}

  /// Does not wait for Redis.
  public void remember(List<Entry> entries) {
    for (Entry entry : entries) {
      here.put(entry.id(), entry);
      if (redis.connected() && !rounds.add(entry)) {
        LOG.debug("event=accepted_not_kept reason=\"{} wait\"", MOST_WAITING);
      }
    }
  }

  /// One write for many entries. The messages are accepted: nothing that happens here may make the answer another one.
  private CompletionStage<?> putIntoRedis(List<Entry> entries) {
    try {
      List<AsyncCommand<String, String, String>> commands =
          entries.stream().map(AcceptedMessages::set).toList();
      redis.connection().dispatch(commands);
      // It ends in bounded time: the client has a timeout for every command.
      return commands.getLast();
    } catch (RuntimeException e) {
      LOG.debug("event=accepted_not_kept reason=\"{}\"", e.toString());
      return CompletableFuture.failedFuture(e);
    }
  }

  private static AsyncCommand<String, String, String> set(Entry entry) {
    CommandArgs<String, String> arguments =
        new CommandArgs<>(StringCodec.UTF8)
            .addKey(ACCEPTED + entry.id().value())
            .add(WireForm.write(entry))
            .add("PX")
            .add(KEPT.toMillis());
    return new AsyncCommand<>(
        new Command<>(CommandType.SET, new StatusOutput<>(StringCodec.UTF8), arguments));
  }

  Optional<Entry> find(AppId app, MessageId id) {
    Entry entry = here.getIfPresent(id);
    if (entry == null) {
      entry = inRedis(id);
    }
    return Optional.ofNullable(entry).filter(found -> found.app().equals(app));
  }

  private @Nullable Entry inRedis(MessageId id) {
    try {
      String text = redis.ask(commands -> commands.get(ACCEPTED + id.value()));
      return text == null
          ? null
          : WireForm.read(text.getBytes(StandardCharsets.UTF_8), Entry.class);
    } catch (DirectoryUnavailable e) {
      return null;
    }
  }
}
