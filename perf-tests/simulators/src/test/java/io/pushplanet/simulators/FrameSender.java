package io.pushplanet.simulators;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.ApplicationProtocolConfig;
import io.netty.handler.ssl.ApplicationProtocolConfig.Protocol;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectedListenerFailureBehavior;
import io.netty.handler.ssl.ApplicationProtocolConfig.SelectorFailureBehavior;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import io.pushplanet.simulators.tls.Authority;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import javax.net.ssl.SSLException;

/// An HTTP/2 sender without manners: it opens as many streams as it is told to, whatever the server
/// allows, and keeps what the server says. Thread-safe.
final class FrameSender implements AutoCloseable {
  /// The MAX_CONCURRENT_STREAMS that the server told, in their order. It has acknowledged each.
  final List<Long> streams = new CopyOnWriteArrayList<>();

  /// The status of each stream's answer.
  final Map<Integer, String> answers = new ConcurrentHashMap<>();

  /// The error code of each stream that the server reset.
  final Map<Integer, Long> resets = new ConcurrentHashMap<>();

  final List<GoAway> goAways = new CopyOnWriteArrayList<>();

  /// The bytes that the server gave back to the connection's window.
  final AtomicLong givenBack = new AtomicLong();

  private final MultiThreadIoEventLoopGroup loops =
      new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
  private final DefaultHttp2FrameWriter writer = new DefaultHttp2FrameWriter();
  private final Frames frames = new Frames();
  private final Channel connection;

  record GoAway(int lastStream, long error, String debugData) {}

  FrameSender(Authority authority, int port) throws SSLException {
    SslContext tls =
        SslContextBuilder.forClient()
            .sslProvider(SslProvider.JDK)
            .trustManager(authority.certificate())
            .applicationProtocolConfig(
                new ApplicationProtocolConfig(
                    Protocol.ALPN,
                    SelectorFailureBehavior.NO_ADVERTISE,
                    SelectedListenerFailureBehavior.ACCEPT,
                    "h2"))
            .build();
    connection =
        new Bootstrap()
            .group(loops)
            .channel(NioSocketChannel.class)
            .handler(
                new ChannelInitializer<Channel>() {
                  @Override
                  protected void initChannel(Channel channel) {
                    channel.pipeline().addLast(tls.newHandler(channel.alloc(), "localhost", port));
                    channel.pipeline().addLast(frames);
                  }
                })
            .connect("localhost", port)
            .syncUninterruptibly()
            .channel();
  }

  /// Sends the head of a request, which opens a stream.
  void open(int stream, String path, Map<String, String> headers) {
    Http2Headers head =
        new DefaultHttp2Headers().method("POST").scheme("https").authority("localhost").path(path);
    headers.forEach(head::add);
    write(context -> {
      var _ = writer.writeHeaders(context, stream, head, 0, false, context.newPromise());
    });
  }

  /// Sends the body, which ends the request.
  void end(int stream, String body) {
    write(context -> {
      var _ =
          writer.writeData(
              context,
              stream,
              Unpooled.copiedBuffer(body, StandardCharsets.UTF_8),
              0,
              true,
              context.newPromise());
    });
  }

  /// Gives the stream up.
  void reset(int stream) {
    write(context -> {
      var _ =
          writer.writeRstStream(context, stream, Http2Error.CANCEL.code(), context.newPromise());
    });
  }

  /// Enlarges the stream's window for the answer.
  void enlargeWindow(int stream) {
    write(context -> {
      var _ = writer.writeWindowUpdate(context, stream, 1_000, context.newPromise());
    });
  }

  private void write(Consumer<ChannelHandlerContext> frame) {
    connection
        .eventLoop()
        .submit(() -> {
          ChannelHandlerContext context = connection.pipeline().context(frames);
          frame.accept(context);
          context.flush();
        })
        .syncUninterruptibly();
  }

  @Override
  public void close() {
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
  }

  /// What goes over the connection. Confined to its event loop.
  private final class Frames extends ByteToMessageDecoder {
    private final DefaultHttp2FrameReader reader = new DefaultHttp2FrameReader();

    @Override
    public void channelActive(ChannelHandlerContext context) throws Exception {
      context.write(Http2CodecUtil.connectionPrefaceBuf());
      var _ = writer.writeSettings(context, new Http2Settings(), context.newPromise());
      context.flush();
      super.channelActive(context);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> ignored)
        throws Http2Exception {
      reader.readFrame(context, in, new Said());
    }
  }

  private final class Said extends Http2FrameAdapter {
    @Override
    public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) {
      var _ = writer.writeSettingsAck(context, context.newPromise());
      context.flush();
      Long most = settings.maxConcurrentStreams();
      if (most != null) {
        streams.add(most);
      }
    }

    @Override
    public void onHeadersRead(
        ChannelHandlerContext context, int stream, Http2Headers head, int padding, boolean last) {
      answers.put(stream, head.status().toString());
    }

    @Override
    public void onRstStreamRead(ChannelHandlerContext context, int stream, long error) {
      resets.put(stream, error);
    }

    @Override
    public void onWindowUpdateRead(ChannelHandlerContext context, int stream, int bytes) {
      if (stream == 0) {
        var _ = givenBack.addAndGet(bytes);
      }
    }

    @Override
    public void onGoAwayRead(
        ChannelHandlerContext context, int lastStream, long error, ByteBuf debugData) {
      goAways.add(new GoAway(lastStream, error, debugData.toString(StandardCharsets.UTF_8)));
    }
  }
}
