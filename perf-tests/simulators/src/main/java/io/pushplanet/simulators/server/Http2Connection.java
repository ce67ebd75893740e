package io.pushplanet.simulators.server;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.DefaultHttp2SettingsFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodec;
import io.netty.handler.codec.http2.Http2Settings;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/// The shared state of the streams of one HTTP/2 connection. Confined to its event loop.
final class Http2Connection {
  private static final long GOAWAY_LINGER_MILLIS = 1_000;

  private final Http2FrameCodec codec;
  private final Endpoint.Conversation conversation;
  private int announcedStreams;
  private int highestStream;
  private int lastStream = Integer.MAX_VALUE;

  Http2Connection(Http2FrameCodec codec, Endpoint.Conversation conversation) {
    this.codec = codec;
    this.conversation = conversation;
    this.announcedStreams = conversation.allowedStreams();
  }

  Reaction answer(int stream, Request request) {
    highestStream = Math.max(highestStream, stream);
    return conversation.answer(request);
  }

  /// Whether further requests are ignored.
  boolean ignores(int stream) {
    return stream > lastStream;
  }

  /// Closes at once. Requests read together with this one are ignored.
  void cut(Channel connection) {
    lastStream = 0;
    ChannelHandlerContext context = connection.pipeline().context(codec);
    if (context != null) {
      flushAnswers(context);
    }
    var _ = connection.close();
  }

  void announceStreams(Channel connection) {
    int allowed = conversation.allowedStreams();
    if (allowed != announcedStreams) {
      announcedStreams = allowed;
      connection
          .writeAndFlush(
              new DefaultHttp2SettingsFrame(new Http2Settings().maxConcurrentStreams(allowed)))
          .addListener(written -> {});
    }
  }

  /// It names the highest processed stream as the last one: requests end in another order than they
  /// begin ([RFC 9113, section 6.8](https://www.rfc-editor.org/rfc/rfc9113#section-6.8)).
  void goAway(Channel connection, String debugData) {
    ChannelHandlerContext context = connection.pipeline().context(codec);
    if (context == null) {
      return;
    }
    flushAnswers(context);
    lastStream = highestStream;
    // The codec's own way would end the connection at the first DATA of a later stream.
    var _ =
        codec
            .encoder()
            .frameWriter()
            .writeGoAway(
                context,
                lastStream,
                Http2Error.NO_ERROR.code(),
                Unpooled.copiedBuffer(debugData, StandardCharsets.UTF_8),
                context.newPromise());
    context.flush();
    var _ =
        connection
            .eventLoop()
            .schedule(
                () -> {
                  var _ = connection.close();
                },
                GOAWAY_LINGER_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  /// The codec keeps written bodies until its own flush.
  private void flushAnswers(ChannelHandlerContext context) {
    codec.flush(context);
  }
}
