package io.pushplanet.dispatcher.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.delivery.DeliveryEvent;
import io.pushplanet.common.message.AppId;
import io.pushplanet.common.message.Content;
import io.pushplanet.common.message.DeliveryOptions;
import io.pushplanet.common.message.MessageId;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.message.target.Audience;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.redis.RedisUnavailable;
import io.pushplanet.common.testing.MutableClock;
import io.pushplanet.common.wire.WireForm;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AcceptedMessagesTest {
  private static final AppId SHOP = new AppId("shop");

  /// Redis may be away, and the older a message is, the more likely its row is written.
  @Test
  void the_newest_are_kept_whatever_was_there_before() {
    try (RedisClient client = RedisClient.create("redis://127.0.0.1:1");
        RedisLink nowhere = RedisLink.open(client)) {
      AcceptedMessages accepted =
          new AcceptedMessages(nowhere, Clock.systemUTC(), new SimpleMeterRegistry());
      MessageIds ids = new MessageIds(Clock.systemUTC(), new Random(7));
      List<MessageId> many = Stream.generate(ids::next).limit(500).toList();

      many.forEach(id -> accepted.remember(id, news(id)));

      assertThat(many.subList(400, 500))
          .allSatisfy(id ->
              assertThat(accepted.find(SHOP, id))
                  .map(DeliveryEvent.Accepted::message)
                  .contains(id));
    }
  }

  @Test
  void without_redis_a_message_counts_as_unknown_only_when_it_is_too_old_to_be_there() {
    MutableClock clock = MutableClock.started();
    MessageId id = new MessageIds(clock, new Random(7)).next();
    try (RedisClient client = RedisClient.create("redis://127.0.0.1:1");
        RedisLink nowhere = RedisLink.open(client)) {
      AcceptedMessages accepted = new AcceptedMessages(nowhere, clock, new SimpleMeterRegistry());

      assertThatThrownBy(() -> accepted.mustFind(SHOP, id)).isInstanceOf(RedisUnavailable.class);
      assertThat(accepted.find(SHOP, id)).isEmpty();

      clock.advance(Duration.ofMinutes(11));
      assertThat(accepted.mustFind(SHOP, id)).isEmpty();
    }
  }

  private static byte[] news(MessageId id) {
    return WireForm.write(
        new DeliveryEvent.Accepted(
            SHOP,
            id.time(),
            id,
            id.time().plusSeconds(60),
            WireForm.json(new Audience.All()),
            WireForm.json(new Content("x".repeat(50_000), null, Map.of())),
            WireForm.json(DeliveryOptions.DEFAULT),
            List.of(),
            false,
            null));
  }

  @Test
  void messages_that_name_many_devices_do_not_fill_the_heap() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (RedisClient client = RedisClient.create("redis://127.0.0.1:1");
        RedisLink nowhere = RedisLink.open(client)) {
      AcceptedMessages accepted = new AcceptedMessages(nowhere, Clock.systemUTC(), meters);
      MessageIds ids = new MessageIds(Clock.systemUTC(), new Random(7));
      byte[] large = new byte[100_000];

      for (int i = 0; i < 1_000; i++) {
        accepted.remember(ids.next(), large);
      }

      double kept = meters.get("cache.size").tag("cache", "accepted-messages").gauge().value();
      assertThat(kept * large.length).isPositive().isLessThan(20_000_000);
    }
  }
}
