package io.pushplanet.gateway.http2;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.pushplanet.gateway.connection.Names;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/// Opens HTTP/2 connections, with TLS unless the endpoint is plain `http`. Thread-safe; connecting
/// blocks.
final class Http2Connector implements AutoCloseable {
  private static final int EVENT_LOOPS = 2;
  private static final String HTTP_2 = "h2";

  /// How many of a host's addresses are tried for one connection.
  private static final int MAX_ADDRESSES = 4;

  /// A thousand requests of 1 KB may be on their way to the kernel at once.
  private static final WriteBufferWaterMark WRITE_BUFFER =
      new WriteBufferWaterMark(512 * 1024, 1024 * 1024);

  private static final Duration CLOSE_NOTIFY_WITHIN = Duration.ofMillis(200);

  private final ConnectionSettings settings;
  private final Clock clock;
  private final int firstStream;
  private final Names names;
  private final EventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(
          EVENT_LOOPS,
          new DefaultThreadFactory("provider-connections", true),
          NioIoHandler.newFactory());
  private final Set<Http2Connection> open = ConcurrentHashMap.newKeySet();
  private final AtomicInteger turn = new AtomicInteger();

  Http2Connector(ConnectionSettings settings, Clock clock) {
    this(settings, clock, 1, new Names());
  }

  /// For tests.
  ///
  /// @param firstStream the first stream of each connection
  Http2Connector(ConnectionSettings settings, Clock clock, int firstStream, Names names) {
    this.settings = settings;
    this.clock = clock;
    this.firstStream = firstStream;
    this.names = names;
  }

  /// Connects to one of the host's addresses, each time to another one.
  ///
  /// @throws IOException when there is no connection within `deadline`
  Http2Connection connect(ConnectionTarget target, Duration deadline)
      throws IOException, InterruptedException {
    long endNanos = System.nanoTime() + deadline.toNanos();
    // Half of the time, so that the requests that wait for the connection still learn what is
    // wrong.
    List<InetAddress> addresses = addresses(target.endpoint().getHost(), deadline.dividedBy(2));
    IOException failure = new IOException("no address");
    for (int i = 0; i < addresses.size(); i++) {
      long leftNanos = endNanos - System.nanoTime();
      if (leftNanos <= 0) {
        break;
      }
      boolean last = i == addresses.size() - 1;
      try {
        return connect(
            target, addresses.get(i), Duration.ofNanos(last ? leftNanos : leftNanos / 2));
      } catch (IOException e) {
        failure = e;
      }
    }
    throw failure;
  }

  /// Addresses of the family that the system prefers come first.
  private List<InetAddress> addresses(String host, Duration deadline)
      throws IOException, InterruptedException {
    InetAddress[] all = names.addresses(host, deadline);
    List<InetAddress> preferred = new ArrayList<>();
    List<InetAddress> others = new ArrayList<>();
    int start = Math.floorMod(turn.getAndIncrement(), all.length);
    for (int i = 0; i < all.length; i++) {
      InetAddress address = all[(start + i) % all.length];
      (address.getClass() == all[0].getClass() ? preferred : others).add(address);
    }
    preferred.addAll(others);
    return preferred.subList(0, Math.min(MAX_ADDRESSES, preferred.size()));
  }

  private Http2Connection connect(ConnectionTarget target, InetAddress address, Duration deadline)
      throws IOException, InterruptedException {
    CompletableFuture<Http2Connection> connected = new CompletableFuture<>();
    var opened =
        new Bootstrap()
            .group(loops)
            .channel(NioSocketChannel.class)
            .option(ChannelOption.TCP_NODELAY, true)
            .option(ChannelOption.SO_KEEPALIVE, true)
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WRITE_BUFFER)
            .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) deadline.toMillis())
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    prepare(channel, target, deadline, connected);
                  }
                })
            .connect(new InetSocketAddress(address, target.port()));
    opened.addListener(done -> {
      if (done.isSuccess()) {
        opened
            .channel()
            .closeFuture()
            .addListener(
                _ -> connected.completeExceptionally(new IOException("closed by the peer")));
      } else {
        connected.completeExceptionally(done.cause());
      }
    });
    boolean kept = false;
    try {
      Http2Connection connection = connected.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
      kept = true;
      return connection;
    } catch (TimeoutException e) {
      throw new IOException("no connection within " + deadline, e);
    } catch (ExecutionException e) {
      throw new IOException(String.valueOf(e.getCause()), e.getCause());
    } finally {
      // Given up, or late by a moment: the caller no longer waits for it.
      if (!kept) {
        connected.completeExceptionally(new IOException("given up"));
        var _ = opened.channel().close();
      }
    }
  }

  private void prepare(
      Channel channel,
      ConnectionTarget target,
      Duration deadline,
      CompletableFuture<Http2Connection> connected) {
    String host = target.endpoint().getHost();
    String authority = target.authority();
    Http2Streams streams =
        new Http2Streams(settings, authority, target.isTls(), clock, firstStream);
    Http2Connection connection = new Http2Connection(channel, settings, streams);
    streams.belongsTo(connection);
    open.add(connection);
    channel.closeFuture().addListener(_ -> open.remove(connection));
    if (!target.isTls()) {
      channel
          .pipeline()
          .addLast(
              new ChannelInboundHandlerAdapter() {
                @Override
                public void channelActive(ChannelHandlerContext context) {
                  begin(streams, connection, connected);
                }
              },
              streams);
      return;
    }
    SSLEngine engine = target.tls().createSSLEngine(host, target.port());
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {HTTP_2});
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    SslHandler tls = new SslHandler(engine);
    tls.setHandshakeTimeoutMillis(deadline.toMillis());
    tls.setCloseNotifyFlushTimeoutMillis(CLOSE_NOTIFY_WITHIN.toMillis());
    tls.handshakeFuture()
        .addListener(shaken -> {
          if (!shaken.isSuccess()) {
            connected.completeExceptionally(shaken.cause());
          } else if (!HTTP_2.equals(engine.getApplicationProtocol())) {
            connected.completeExceptionally(new IOException("the peer does not speak HTTP/2"));
          } else {
            begin(streams, connection, connected);
          }
        });
    channel.pipeline().addLast(tls, streams);
  }

  /// Closes a connection that comes too late for its caller.
  private static void begin(
      Http2Streams streams,
      Http2Connection connection,
      CompletableFuture<Http2Connection> connected) {
    streams.begin();
    if (!connected.complete(connection)) {
      streams.close("late");
    }
  }

  int count() {
    return open.size();
  }

  EventLoopGroup loops() {
    return loops;
  }

  @Override
  public void close() {
    open.forEach(connection -> connection.close("closed"));
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
