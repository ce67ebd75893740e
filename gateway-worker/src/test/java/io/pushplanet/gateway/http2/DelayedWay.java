package io.pushplanet.gateway.http2;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/// A long way to a server on this machine: half of a round trip in each direction, and a whole one
/// to connect.
public final class DelayedWay implements AutoCloseable {
  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final Channel listener;

  public DelayedWay(int serverPort, Duration roundTrip) {
    long halfNanos = roundTrip.toNanos() / 2;
    listener =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childOption(ChannelOption.AUTO_READ, false)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel client) {
                    var _ =
                        client
                            .eventLoop()
                            .schedule(
                                () -> connect(client, serverPort, halfNanos),
                                2 * halfNanos,
                                TimeUnit.NANOSECONDS);
                  }
                })
            .bind(InetAddress.getLoopbackAddress(), 0)
            .syncUninterruptibly()
            .channel();
  }

  public int port() {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  @Override
  public void close() {
    listener.close().syncUninterruptibly();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  private void connect(Channel client, int serverPort, long halfNanos) {
    var _ =
        new Bootstrap()
            .group(client.eventLoop())
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel server) {
                    server.pipeline().addLast(new Later(client, halfNanos));
                    client.pipeline().addLast(new Later(server, halfNanos));
                  }
                })
            .connect(InetAddress.getLoopbackAddress(), serverPort)
            .addListener(_ -> client.config().setAutoRead(true));
  }

  /// Writes bytes to the other side later.
  private static final class Later extends ChannelInboundHandlerAdapter {
    private final Channel other;
    private final long afterNanos;

    Later(Channel other, long afterNanos) {
      this.other = other;
      this.afterNanos = afterNanos;
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object bytes) {
      var _ =
          context
              .executor()
              .schedule(() -> other.writeAndFlush(bytes), afterNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      var _ = context.executor().schedule(() -> other.close(), afterNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var _ = context.close();
    }
  }
}
