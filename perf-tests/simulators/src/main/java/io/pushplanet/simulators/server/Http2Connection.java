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

/// What the streams of one HTTP/2 connection share. Confined to its event loop.
final class Http2Connection {
  private static final long GOAWAY_LINGER_MILLIS = 1_000;

  private final Http2FrameCodec codec;
  private final Endpoint.Conversation conversation;
  private int announcedStreams;

  Http2Connection(Http2FrameCodec codec, Endpoint.Conversation conversation) {
    this.codec = codec;
    this.conversation = conversation;
    this.announcedStreams = conversation.allowedStreams();
  }

  Reaction answer(Request request) {
    return conversation.answer(request);
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

  void goAway(Channel connection, int lastStream, String debugData) {
    ChannelHandlerContext context = connection.pipeline().context(codec);
    if (context == null) {
      return;
    }
    var _ =
        codec.goAway(
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
}
