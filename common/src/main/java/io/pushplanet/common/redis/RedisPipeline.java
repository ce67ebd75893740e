package io.pushplanet.common.redis;

import io.lettuce.core.protocol.CommandHandler;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;

/// The handlers that a process's connections to Redis have besides Lettuce's own: they close a
/// connection that would never work again, and Lettuce connects anew. Thread-safe.
public final class RedisPipeline implements NettyCustomizer {
  private final FormerPrimary formerPrimary = new FormerPrimary(System::nanoTime);

  @Override
  public void afterChannelInitialized(Channel channel) {
    // Next to the socket, because under TLS every byte is a sign of life as well.
    channel.pipeline().addFirst(new SilenceLimit());
    // Behind TLS.
    String commands = channel.pipeline().context(CommandHandler.class).name();
    channel.pipeline().addBefore(commands, null, formerPrimary);
  }
}
