package io.pushplanet.simulators.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.pushplanet.simulators.tls.Authority;
import io.pushplanet.simulators.tls.ServerFace;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/// One listening port, on each address of a host: HTTP/2 over TLS, HTTP/1.1 over TLS by ALPN, or
/// plain HTTP/1.1. One event loop serves it.
///
/// Thread-safe; closing drops every connection, as a killed server would.
public final class SimulatorServer implements AutoCloseable {
  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final List<Channel> listeners;
  private final Optional<Authority> authority;
  private final String[] protocols;
  private volatile @Nullable SslContext tls;

  private SimulatorServer(
      InetSocketAddress where,
      Endpoint endpoint,
      Optional<Authority> authority,
      String... protocols) {
    this.authority = authority;
    this.protocols = protocols;
    authority.ifPresent(it -> present(it.server(ServerFace.TRUSTED)));
    ServerBootstrap bootstrap =
        new ServerBootstrap()
            .group(loops)
            .channel(NioServerSocketChannel.class)
            .option(ChannelOption.SO_BACKLOG, 1024)
            .option(ChannelOption.SO_REUSEADDR, true)
            .childOption(ChannelOption.TCP_NODELAY, true)
            .childHandler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    SslContext now = tls;
                    if (now == null) {
                      Http1Exchange.install(channel.pipeline(), endpoint);
                    } else {
                      channel.pipeline().addLast(now.newHandler(channel.alloc()));
                      channel
                          .pipeline()
                          .addLast(new ProtocolChoice(endpoint, protocols[protocols.length - 1]));
                    }
                  }
                });
    try {
      listeners = listen(bootstrap, where);
    } catch (IOException | RuntimeException e) {
      var _ = loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw new IllegalStateException(
          "Cannot listen on " + where.getHostString() + ":" + where.getPort(), e);
    }
  }

  /// On each address of the host, because a client of `localhost` may begin with either of its two.
  /// A machine may name an address that it does not have, such as `::1`, so the first is enough.
  private static List<Channel> listen(ServerBootstrap bootstrap, InetSocketAddress where)
      throws IOException {
    InetAddress[] addresses = InetAddress.getAllByName(where.getHostString());
    var listeners = new ArrayList<Channel>();
    listeners.add(bootstrap.bind(addresses[0], where.getPort()).syncUninterruptibly().channel());
    for (InetAddress other : List.of(addresses).subList(1, addresses.length)) {
      ChannelFuture bound =
          bootstrap.bind(other, portOf(listeners.getFirst())).awaitUninterruptibly();
      if (bound.isSuccess()) {
        listeners.add(bound.channel());
      }
    }
    return List.copyOf(listeners);
  }

  private static int portOf(Channel listener) {
    return ((InetSocketAddress) listener.localAddress()).getPort();
  }

  /// Listens with TLS; port 0 takes a free one. With `http1` a client that does not offer `h2` gets
  /// HTTP/1.1, else HTTP/2.
  ///
  /// @param where a host, which is looked up here, and a port
  public static SimulatorServer overTls(
      InetSocketAddress where, Authority authority, boolean http1, Endpoint endpoint) {
    String[] protocols = http1 ? new String[] {"h2", "http/1.1"} : new String[] {"h2"};
    return new SimulatorServer(where, endpoint, Optional.of(authority), protocols);
  }

  /// Uses another certificate for new connections.
  public void present(Authority.Identity identity) {
    try {
      tls =
          SslContextBuilder.forServer(identity.key(), identity.certificate())
              .sslProvider(SslProvider.JDK)
              .protocols("TLSv1.3", "TLSv1.2")
              .trustManager(authority.orElseThrow().certificate())
              .clientAuth(ClientAuth.OPTIONAL)
              .applicationProtocolConfig(
                  new ApplicationProtocolConfig(
                      Protocol.ALPN,
                      SelectorFailureBehavior.NO_ADVERTISE,
                      SelectedListenerFailureBehavior.ACCEPT,
                      protocols))
              .build();
    } catch (SSLException e) {
      throw new IllegalStateException("Cannot serve TLS", e);
    }
  }

  /// Listens without TLS.
  public static SimulatorServer plain(InetSocketAddress where, Endpoint endpoint) {
    return new SimulatorServer(where, endpoint, Optional.empty());
  }

  /// The port it listens on.
  public int port() {
    return portOf(listeners.getFirst());
  }

  @Override
  public void close() {
    listeners.forEach(listener -> listener.close().syncUninterruptibly());
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
