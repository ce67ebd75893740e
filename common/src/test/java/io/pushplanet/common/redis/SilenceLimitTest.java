package io.pushplanet.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// A vanished host sends neither an answer nor a reset.
class SilenceLimitTest {
  private static final long LONGEST = SilenceLimit.LONGEST.toMillis();

  private final EmbeddedChannel channel = new EmbeddedChannel();

  SilenceLimitTest() {
    channel.freezeTime();
    channel.pipeline().addFirst(new SilenceLimit());
  }

  @Test
  void a_silent_server_is_left() {
    channel.writeOutbound("GET");

    pass(LONGEST - 1);
    assertThat(channel.isOpen()).isTrue();
    pass(1);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void a_server_that_falls_silent_later_is_left() {
    channel.writeOutbound("GET");
    channel.writeInbound("answer");
    channel.writeOutbound("GET");

    pass(LONGEST);
    pass(LONGEST - 1);
    assertThat(channel.isOpen()).isTrue();
    pass(1);
    assertThat(channel.isOpen()).isFalse();
  }

  @Test
  void a_command_has_its_full_time_after_earlier_commands() {
    channel.writeOutbound("GET");
    channel.writeInbound("answer");
    pass(LONGEST - 1);
    channel.writeOutbound("GET");

    pass(LONGEST);
    assertThat(channel.isOpen()).isTrue();
    channel.writeInbound("answer");
    pass(10 * LONGEST);
    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void a_server_without_commands_may_be_silent() {
    channel.writeInbound("news");

    pass(10 * LONGEST);

    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void a_slow_server_that_answers_is_kept() {
    channel.writeOutbound("GET", "GET", "GET");
    for (int i = 0; i < 5; i++) {
      pass(LONGEST - 1);
      channel.writeInbound("a part of the answer");
      channel.writeOutbound("GET");
    }

    assertThat(channel.isOpen()).isTrue();
  }

  private void pass(long millis) {
    channel.advanceTimeBy(millis, TimeUnit.MILLISECONDS);
    channel.runScheduledPendingTasks();
  }
}
