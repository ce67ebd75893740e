package io.pushplanet.dispatcher.denial;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.pushplanet.common.redis.RedisLink;
import io.pushplanet.common.session.Denials;
import io.pushplanet.common.testing.MutableClock;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DeniedDevicesTest {
  private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
  private final MutableClock clock = MutableClock.started();

  @Test
  void an_error_ends_the_round_and_no_other() {
    try (var client = RedisClient.create();
        var link = RedisLink.open(client);
        var devices =
            new DeniedDevices(new Broken(), link, new Denials(link, clock), clock, meters)) {
      devices.round();
      devices.round();

      assertThat(meters.get("pushplanet.denials.rounds.failed").counter().count())
          .isGreaterThanOrEqualTo(2);
    }
  }

  private static final class Broken implements DenialMapper {
    @Override
    public @Nullable Instant ends(String app, String device) {
      return null;
    }

    @Override
    public void deny(String app, String device, Instant ends) {}

    @Override
    public List<Denied> untold(String redis, int most) {
      return List.of();
    }

    @Override
    public void told(String redis, List<Denied> devices) {}

    @Override
    public int trim(Instant before, int most) {
      throw new StackOverflowError();
    }
  }
}
