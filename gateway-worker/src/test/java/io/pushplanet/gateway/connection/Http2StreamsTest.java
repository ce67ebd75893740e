package io.pushplanet.gateway.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import java.time.Clock;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class Http2StreamsTest {
  private static final Duration NEVER = Duration.ofHours(1);
  private static final ConnectionSettings SETTINGS =
      new ConnectionSettings(1, 10, NEVER, NEVER, NEVER, NEVER, NEVER);

  @Test
  void what_comes_in_one_piece_with_the_end_leaves_no_buffer_behind() {
    UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);
    EmbeddedChannel channel = new EmbeddedChannel();
    channel.config().setAllocator(buffers);
    Http2Streams streams = new Http2Streams(SETTINGS, "peer", false, Clock.systemUTC(), 1);
    streams.belongsTo(new Http2Connection(channel, SETTINGS, streams));
    channel.pipeline().addLast(streams);
    streams.begin();

    ByteBuf end = Unpooled.buffer();
    Frames.head(end, 0, Frames.SETTINGS, 0, 0);
    Frames.goAway(end, 0);
    Frames.ping(end, false, 7);
    channel.writeInbound(end);
    channel.runPendingTasks();

    assertThat(channel.isOpen()).isFalse();
    channel.releaseOutbound();
    assertThat(buffers.metric().usedHeapMemory() + buffers.metric().usedDirectMemory()).isZero();
  }
}
