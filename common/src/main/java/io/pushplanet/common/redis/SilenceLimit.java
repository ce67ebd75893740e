package io.pushplanet.common.redis;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Closes a connection to Redis on which a command waits and nothing at all arrives for a while:
/// the host of Redis has vanished without a word, or hangs. TCP would keep retrying for a quarter
/// of an hour, and every command would wait for its deadline; without a connection commands fail at
/// once. Lettuce connects again.
///
/// Reads no clock: it checks once per [#LONGEST], and only while a command waits. Confined to its
/// event loop.
final class SilenceLimit extends ChannelDuplexHandler {
  private static final Logger LOG = LoggerFactory.getLogger(SilenceLimit.class);

  /// Longer than a command's deadline. A silence is noticed within twice this time.
  static final Duration LONGEST = Duration.ofSeconds(3);

  private boolean asked;
  private boolean heard;
  private boolean watching;

  @Override
  public void write(ChannelHandlerContext context, Object message, ChannelPromise promise) {
    asked = true;
    if (!watching) {
      watch(context);
    }
    var _ = context.write(message, promise);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    asked = false;
    heard = true;
    context.fireChannelRead(message);
  }

  private void watch(ChannelHandlerContext context) {
    watching = true;
    heard = false;
    var _ =
        context.executor().schedule(() -> look(context), LONGEST.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void look(ChannelHandlerContext context) {
    watching = false;
    if (!asked || !context.channel().isActive()) {
      return;
    }
    if (heard) {
      watch(context);
      return;
    }
    LOG.warn("event=redis_silent seconds={}", LONGEST.toSeconds());
    var _ = context.close();
  }
}
