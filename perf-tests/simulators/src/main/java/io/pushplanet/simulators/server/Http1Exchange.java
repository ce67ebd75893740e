package io.pushplanet.simulators.server;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.pushplanet.simulators.server.Request.Header;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// One HTTP/1.1 connection, one request at a time. Confined to its event loop.
final class Http1Exchange extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final int LARGEST_BODY = 1 << 20;

  private final Endpoint.Conversation conversation;

  private Http1Exchange(Endpoint.Conversation conversation) {
    this.conversation = conversation;
  }

  static void install(ChannelPipeline pipeline, Endpoint endpoint) {
    pipeline.addLast(
        new HttpServerCodec(),
        new HttpObjectAggregator(LARGEST_BODY),
        new Http1Exchange(endpoint.connected(Optional.empty())));
  }

  @Override
  protected void channelRead0(ChannelHandlerContext context, FullHttpRequest message) {
    List<Header> headers = new ArrayList<>();
    message
        .headers()
        .forEach(h -> headers.add(new Header(h.getKey().toLowerCase(Locale.ROOT), h.getValue())));
    Request request =
        new Request(
            message.method().name(),
            message.uri(),
            headers,
            ByteBufUtil.getBytes(message.content()));
    boolean keepAlive = HttpUtil.isKeepAlive(message);
    switch (conversation.answer(request)) {
      case Reaction.Answer answer -> send(context, answer, keepAlive);
      // HTTP/1.1 is not what faults are tried on: late is slow enough.
      case Reaction.Trickle(Reaction.Answer answer, java.time.Duration over) ->
          send(context, answer.after(over), keepAlive);
      case Reaction.Silence _ -> {}
      case Reaction.Reset _, Reaction.Drop _ -> {
        var _ = context.close();
      }
      case Reaction.GoAway(Reaction.Answer answer, String _) -> send(context, answer, false);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    var _ = context.close();
  }

  private static void send(
      ChannelHandlerContext context, Reaction.Answer answer, boolean keepAlive) {
    var _ =
        context
            .executor()
            .schedule(
                () -> write(context, answer, keepAlive),
                answer.delay().toNanos(),
                TimeUnit.NANOSECONDS);
  }

  private static void write(
      ChannelHandlerContext context, Reaction.Answer answer, boolean keepAlive) {
    FullHttpResponse response =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(answer.body()));
    answer.headers().forEach(h -> response.headers().add(h.name(), h.value()));
    if (answer.status() != 204) {
      HttpUtil.setContentLength(response, answer.body().length);
    }
    HttpUtil.setKeepAlive(response, keepAlive);
    var written = context.writeAndFlush(response);
    if (!keepAlive) {
      written.addListener(ChannelFutureListener.CLOSE);
    }
  }
}
