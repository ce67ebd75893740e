package io.pushplanet.dispatcher.message;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.lettuce.core.RedisException;
import io.lettuce.core.SetArgs;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.session.DirectoryUnavailable;
import io.pushplanet.common.session.RedisLink;
import io.pushplanet.common.wire.WireForm;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
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

  private final RedisLink redis;
  private final Cache<MessageId, Entry> here;

  AcceptedMessages(RedisLink redis, MeterRegistry meters) {
    this.redis = redis;
    this.here =
        Caffeine.newBuilder()
            .maximumSize(MOST_KEPT_HERE)
            .expireAfterWrite(KEPT)
            .recordStats()
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
    entries.forEach(entry -> here.put(entry.id(), entry));
    if (!redis.connected()) {
      return;
    }
    try {
      entries.forEach(this::putIntoRedis);
    } catch (DirectoryUnavailable | RedisException e) {
      // The messages are accepted: nothing that happens here may make the answer another one.
      LOG.debug("event=accepted_not_kept reason=\"{}\"", e.toString());
    }
  }

  private void putIntoRedis(Entry entry) {
    String text = new String(WireForm.write(entry), StandardCharsets.UTF_8);
    var unused =
        redis
            .connection()
            .async()
            .set(ACCEPTED + entry.id().value(), text, SetArgs.Builder.px(KEPT));
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
