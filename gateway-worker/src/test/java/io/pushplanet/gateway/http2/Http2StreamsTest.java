package io.pushplanet.gateway.http2;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.pushplanet.common.message.Priority;
import io.pushplanet.gateway.connection.ProviderRequest;
import io.pushplanet.gateway.connection.Reply;
import java.net.URI;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.apache.commons.pool2.impl.GenericKeyedObjectPool;
import org.junit.jupiter.api.Test;

class Http2StreamsTest {
  private static final Duration NEVER = Duration.ofHours(1);
  private static final ConnectionSettings SETTINGS =
      new ConnectionSettings(1, 10, 100, NEVER, NEVER, NEVER, NEVER, NEVER);

  private final EmbeddedChannel channel = new EmbeddedChannel();

  @Test
  void frames_that_arrive_together_with_the_end_leak_no_buffer() {
    UnpooledByteBufAllocator buffers = new UnpooledByteBufAllocator(false);
    begun(SETTINGS, buffers);

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

  @Test
  void without_memory_for_the_next_requests_all_end_and_the_connection_is_left() throws Exception {
    Scarce buffers = new Scarce();
    Http2Connection connection = begun(SETTINGS, buffers);
    connection.lendTo(nobodyElse());
    connection.prove();
    Exchange written = handedOver(connection);
    channel.runPendingTasks();

    buffers.usedUp = true;
    Exchange next = handedOver(connection);
    channel.runPendingTasks();

    assertThat(connection.isUsable()).isFalse();
    assertThat(written.hasEnded()).isTrue();
    assertThat(written.await()).isEqualTo(new Reply.NoAnswer("internal_error"));
    assertThat(next.hasEnded()).isTrue();
    assertThat(next.await()).isEqualTo(new Reply.NotSent("internal_error"));
  }

  @Test
  void without_memory_to_ask_a_silent_peer_its_requests_end_all_the_same() throws Exception {
    channel.freezeTime();
    Scarce buffers = new Scarce();
    Duration atOnce = Duration.ofNanos(30);
    Http2Connection connection =
        begun(new ConnectionSettings(1, 10, 100, NEVER, NEVER, NEVER, NEVER, atOnce), buffers);
    connection.lendTo(nobodyElse());
    Exchange written = handedOver(connection);
    channel.runPendingTasks();

    buffers.usedUp = true;
    channel.advanceTimeBy(1, TimeUnit.SECONDS);
    channel.runScheduledPendingTasks();
    channel.unfreezeTime();

    assertThat(written.hasEnded()).isTrue();
    assertThat(written.await()).isEqualTo(new Reply.NoAnswer("internal_error"));
  }

  private Http2Connection begun(ConnectionSettings settings, ByteBufAllocator buffers) {
    channel.config().setAllocator(buffers);
    Http2Streams streams = new Http2Streams(settings, "peer", false, Clock.systemUTC(), 1);
    Http2Connection connection = new Http2Connection(channel, settings, streams);
    streams.belongsTo(connection);
    channel.pipeline().addLast(streams);
    streams.begin();
    return connection;
  }

  private static CredentialConnections nobodyElse() throws Exception {
    try (Http2Connector connector = new Http2Connector(SETTINGS, Clock.systemUTC())) {
      return new CredentialConnections(
          new ConnectionTarget("us", URI.create("http://peer"), SSLContext.getDefault()),
          SETTINGS,
          new GenericKeyedObjectPool<>(new PooledConnections(connector, SETTINGS)));
    }
  }

  /// There is no time left to hand the request over to another connection.
  private static Exchange handedOver(Http2Connection connection) {
    Exchange exchange =
        new Exchange(new ProviderRequest(Priority.NORMAL, "/1", List.of(), new byte[10], null));
    exchange.waitsUntilNanos = System.nanoTime();
    assertThat(connection.take(exchange)).isTrue();
    return exchange;
  }

  /// Like Netty's direct memory: an allocation beyond its size ends in an [Error].
  private static final class Scarce extends AbstractByteBufAllocator {
    private final ByteBufAllocator buffers = UnpooledByteBufAllocator.DEFAULT;
    boolean usedUp;

    @Override
    protected ByteBuf newHeapBuffer(int bytes, int most) {
      if (usedUp) {
        throw new InternalError("no direct memory is left");
      }
      return buffers.heapBuffer(bytes, most);
    }

    @Override
    protected ByteBuf newDirectBuffer(int bytes, int most) {
      return newHeapBuffer(bytes, most);
    }

    @Override
    public boolean isDirectBufferPooled() {
      return false;
    }
  }
}
