package io.pushplanet.common.redis;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Closes a process's connections to Redis when one of them leads to a replica: a failover has made
/// another server the primary, and a new connection to the same address leads there. All of them
/// are closed, because the connection of a listener is not answered, and a replica whose primary is
/// away hears of nothing.
///
/// Of the replies that arrive together it looks at the first alone, which costs next to nothing; a
/// refusal that it overlooks is followed by others. A Redis that loads its data refuses as well
/// (`LOADING`), but is kept: it is ready soon, or turns out to be a replica. Thread-safe.
@Sharable
final class FormerPrimary extends ChannelInboundHandlerAdapter {
  /// A server that stays a replica is left this often.
  static final Duration EVERY = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(FormerPrimary.class);

  /// Of a script's error Redis 6 says first where in the script it arose.
  private static final int LONGEST_REFUSAL = 256;

  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final LongSupplier nanoTime;
  private final AtomicLong leftNanos;

  /// @param nanoTime never set, unlike a clock
  FormerPrimary(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.leftNanos = new AtomicLong(nanoTime.getAsLong() - EVERY.toNanos());
  }

  @Override
  public void handlerAdded(ChannelHandlerContext context) {
    connections.add(context.channel());
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    boolean replica = message instanceof ByteBuf replies && isRefusalOfReplica(replies);
    context.fireChannelRead(message);
    if (replica && mayLeave()) {
      LOG.warn("event=redis_is_replica connections={}", connections.size());
      var _ = connections.close();
    }
  }

  /// A replica takes no changes (`READONLY`), and may answer nothing while its primary is away
  /// (`MASTERDOWN`, https://redis.io/docs/latest/operate/oss_and_stack/management/replication/).
  private static boolean isRefusalOfReplica(ByteBuf replies) {
    int from = replies.readerIndex();
    if (!replies.isReadable() || replies.getByte(from) != '-') {
      return false;
    }
    int length = Math.min(replies.readableBytes(), LONGEST_REFUSAL);
    String begin = replies.toString(from, length, StandardCharsets.US_ASCII);
    String refusal = begin.lines().findFirst().orElse("");
    return refusal.contains("-READONLY ") || refusal.startsWith("-MASTERDOWN ");
  }

  private boolean mayLeave() {
    long now = nanoTime.getAsLong();
    long before = leftNanos.get();
    return now - before >= EVERY.toNanos() && leftNanos.compareAndSet(before, now);
  }
}
