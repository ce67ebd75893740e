package io.pushplanet.simulators.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.FullHttpRequest;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.pushplanet.simulators.server.Request.Header;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/// One HTTP/1.1 connection, one request at a time. Confined to its event loop.
final class Http1Exchange extends SimpleChannelInboundHandler<FullHttpRequest> {
  private static final int LARGEST_BODY = 1 << 20;

  /// The number of pieces of a trickling body.
  private static final int PIECES = 10;

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
      case Reaction.Trickle(Reaction.Answer answer, Duration over) ->
          trickle(context, answer, over, keepAlive);
      case Reaction.Silence _ -> {}
      case Reaction.Reset _ -> {
        // Closed with a TCP RST: HTTP/1.1 has no other.
        context.channel().config().setOption(ChannelOption.SO_LINGER, 0);
        var _ = context.close();
      }
      case Reaction.Drop _ -> {
        var _ = context.close();
      }
      case Reaction.GoAway(Reaction.Answer answer, String _) -> send(context, answer, false);
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    Faults.report(cause);
    var _ = context.close();
  }

  private static void send(
      ChannelHandlerContext context, Reaction.Answer answer, boolean keepAlive) {
    FullHttpResponse whole =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(answer.status()),
            Unpooled.wrappedBuffer(answer.body()));
    describe(whole, answer, keepAlive);
    if (answer.status() != 204) {
      HttpUtil.setContentLength(whole, answer.body().length);
    }
    later(context, answer.delay(), whole, keepAlive);
  }

  /// The head at once, the body in chunks.
  private static void trickle(
      ChannelHandlerContext context, Reaction.Answer answer, Duration over, boolean keepAlive) {
    HttpResponse head =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(answer.status()));
    describe(head, answer, keepAlive);
    HttpUtil.setTransferEncodingChunked(head, true);
    context.writeAndFlush(head).addListener(written -> {});
    byte[] body = answer.body();
    for (int i = 0; i < PIECES; i++) {
      int from = body.length * i / PIECES;
      int to = body.length * (i + 1) / PIECES;
      ByteBuf piece = Unpooled.wrappedBuffer(body, from, to - from);
      boolean last = i == PIECES - 1;
      later(
          context,
          over.multipliedBy(i + 1).dividedBy(PIECES),
          last ? new DefaultLastHttpContent(piece) : new DefaultHttpContent(piece),
          keepAlive || !last);
    }
  }

  private static void describe(HttpResponse head, Reaction.Answer answer, boolean keepAlive) {
    answer.headers().forEach(h -> head.headers().add(h.name(), h.value()));
    HttpUtil.setKeepAlive(head, keepAlive);
  }

  private static void later(
      ChannelHandlerContext context, Duration delay, HttpObject part, boolean staysOpen) {
    var _ =
        context
            .executor()
            .schedule(
                () -> {
                  var written = context.writeAndFlush(part);
                  if (!staysOpen) {
                    written.addListener(ChannelFutureListener.CLOSE);
                  }
                },
                delay.toNanos(),
                TimeUnit.NANOSECONDS);
  }
}
