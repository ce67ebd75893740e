package io.pushplanet.dispatcher.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.message.MessageIds;
import io.pushplanet.common.session.RedisLink;
import java.time.Clock;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AcceptedMessagesTest {
  @Test
  void messages_that_name_many_devices_do_not_fill_the_heap() {
    SimpleMeterRegistry meters = new SimpleMeterRegistry();
    try (RedisClient client = RedisClient.create("redis://127.0.0.1:1");
        RedisLink nowhere = RedisLink.open(client)) {
      AcceptedMessages accepted = new AcceptedMessages(nowhere, meters);
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
