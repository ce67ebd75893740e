package io.pushplanet.common.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.DefaultChannelId;
import io.netty.channel.embedded.EmbeddedChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FormerPrimaryTest {
  private static final String READ_ONLY =
      "-READONLY You can't write against a read only replica.\r\n";

  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 1);
  private final FormerPrimary formerPrimary = new FormerPrimary(nanos::get);
  private final EmbeddedChannel channel = connection();

  @ParameterizedTest
  @ValueSource(
      strings = {
        READ_ONLY,
        "-READONLY You can't write against a read only replica. script: 6af1, on @user_script:3.\r\n",
        "-ERR Error running script (call to f_6af1): @user_script:3: @user_script: 3: " + READ_ONLY,
        "-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
        READ_ONLY + "$2\r\nok\r\n"
      })
  void a_replica_is_left_once_its_answer_was_passed_on(String answer) {
    channel.writeInbound(bytes(answer));

    assertThat(channel.<ByteBuf>readInbound().toString(StandardCharsets.US_ASCII))
        .isEqualTo(answer);
    assertThat(channel.isOpen()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+OK\r\n",
        "-NOSCRIPT No matching script.\r\n",
        "-NOSCRIPT No matching script.\r\n$11\r\n-READONLY x\r\n",
        "-LOADING Redis is loading the dataset in memory\r\n",
        "$11\r\n-READONLY x\r\n",
        ""
      })
  void other_answers_change_nothing(String answer) {
    channel.writeInbound(bytes(answer));

    assertThat(channel.isOpen()).isTrue();
  }

  @Test
  void the_connection_of_a_listener_is_left_too() {
    EmbeddedChannel listener = connection();

    channel.writeInbound(bytes(READ_ONLY));

    assertThat(listener.isOpen()).isFalse();
  }

  @Test
  void a_server_that_stays_a_replica_is_left_once_a_second() {
    channel.writeInbound(bytes(READ_ONLY));
    EmbeddedChannel again = connection();

    nanos.addAndGet(FormerPrimary.EVERY.toNanos() - 1);
    again.writeInbound(bytes(READ_ONLY));
    assertThat(again.isOpen()).isTrue();
    nanos.addAndGet(1);
    again.writeInbound(bytes(READ_ONLY));
    assertThat(again.isOpen()).isFalse();
  }

  private EmbeddedChannel connection() {
    return new EmbeddedChannel(DefaultChannelId.newInstance(), formerPrimary);
  }

  private static ByteBuf bytes(String text) {
    return Unpooled.copiedBuffer(text, StandardCharsets.US_ASCII);
  }
}
